"""Compressors are shown the training text first, as the models are."""

import zlib

import pytest

from chainrule.cli.app import main
from chainrule.experiments.compressors import PROGRAMS, compressed, tail, unmeasurable
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


def test_a_compressor_that_a_short_text_costs_nothing_is_left_out_with_a_note(tmp_path, capsys):
    """bz2 makes fewer bytes of eight equal lines than of five: no number of bits can say that."""
    line = "the cat sat on the mat\n"
    (tmp_path / "train.txt").write_text(line * 5)
    (tmp_path / "held.txt").write_text(line * 3)
    found = compressed(open_corpus(tmp_path / "train.txt"), [line.encode() * 3])
    assert found["bz2"]["bits_per_byte"] < 0 and unmeasurable(found) == ["bz2"]
    with pytest.raises(SystemExit):
        main(["compare", "ngram", "--data", str(tmp_path / "train.txt"), "--valid", str(tmp_path / "held.txt"), "--out",
              str(tmp_path / "report")])
    shown = capsys.readouterr().out
    assert [text.split()[0] for text in shown.splitlines()[1:4]] == ["ngram", "zlib", "xz"]
    assert "\nzlib and xz are compressors that read the training text first." in shown
    assert "Note: bz2: left out, because training text and held-out text together compress to no more bytes" in shown
