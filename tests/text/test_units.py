"""Units: what one <s> … </s> spans, with their raw bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import corpus_of, lines_by_hand

from chainrule.errors import DataError
from chainrule.text.corpora import open_corpus
from chainrule.text.options import TextOptions
from chainrule.text.units import END, stretches

ALPHABET = st.text(st.sampled_from("ab é\n\n\r\t\0\u2028\u00a0 "), max_size=32)


def units(corpus, unit, options, size=1 << 18):
    """All units, their raw bytes and the bytes left out."""
    found = list(stretches(corpus, unit, options, size))
    data = b"".join(stretch.data for stretch in found)
    assert data.endswith(END)
    return data[:-1].split(END), np.concatenate([s.bytes for s in found]).tolist(), sum(s.lost for s in found)


@given(text=ALPHABET, size=st.integers(4, 30), keep=st.booleans())
def test_units_are_the_lines_however_the_text_is_cut(text, size, keep):
    options = TextOptions(blank_lines="keep" if keep else "drop")
    expected = lines_by_hand(text, keep)
    if not lines_by_hand(text):
        with pytest.raises(DataError, match="there is no text in it"):
            units(corpus_of(text), "line", options, size)
        return
    found, lengths, lost = units(corpus_of(text), "line", options, size)
    assert [unit.decode() for unit in found] == expected
    ends_without_newline = not text.endswith("\n") and bool(keep or text.split("\n")[-1].strip("\0\t\v\f\r "))
    assert lengths == [len(unit) + 1 for unit in found[:-1]] + [len(found[-1]) + 1 - ends_without_newline]
    assert sum(lengths) + lost == len(text.encode())


@given(texts=st.lists(ALPHABET, min_size=1, max_size=4), size=st.integers(4, 30))
def test_a_document_is_a_unit_and_keeps_its_newlines(texts, size, tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_bytes(text.encode())
    expected = [text.encode() for text in texts if text.strip("\0\t\v\f\r\n ")]
    if not expected:
        with pytest.raises(DataError, match="there is no text in it"):
            units(open_corpus(folder), "document", TextOptions(), size)
        return
    found, lengths, lost = units(open_corpus(folder), "document", TextOptions(), size)
    assert found == expected
    assert lengths == [len(unit) for unit in expected]
    assert sum(lengths) + lost == sum(len(text.encode()) for text in texts)


@pytest.mark.parametrize("text, what", [("", r"there is no text in it\."), (" \n\t\r\n", "in it, only white space")])
def test_a_corpus_without_a_word_is_an_error(text, what):
    for unit in ("line", "document"):
        with pytest.raises(DataError, match=rf"one\.txt: .*{what}"):
            units(corpus_of(text), unit, TextOptions())
