"""Compressors are shown the training text first, as the models are."""

import zlib

import pytest

from chainrule.experiments.compressors import PROGRAMS, compressed, tail
from chainrule.text.corpora import open_corpus


def test_text_seen_in_training_costs_less(tmp_path):
    text = b"".join(b"%d times %d is %d\n" % (i, i, i * i) for i in range(700))
    (tmp_path / "a.txt").write_bytes(text)
    found = compressed(open_corpus(tmp_path), [text[:3000], text[3000:5000]])
    assert set(found) == set(PROGRAMS)
    assert all(each["bits_per_byte"] < each["alone"] for each in found.values())
    assert found["xz"]["bits_per_byte"] < found["xz"]["alone"] / 10
    assert found["zlib"]["alone"] == pytest.approx(8 * len(zlib.compress(text[:5000], 9)) / 5000)
    more = len(zlib.compress(text + text[:5000], 9)) - len(zlib.compress(text, 9))
    assert found["zlib"]["bits_per_byte"] == pytest.approx(8 * more / 5000)


def test_the_end_of_a_long_text_is_what_they_remember(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"line one\nline two\nline three\n")
    assert tail(open_corpus(tmp_path), 11) == b"line three\n"
