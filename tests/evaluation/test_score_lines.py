"""Lines of real files: each scored on its own, blank ones too; and how many characters a file has."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import Bytes, History, Words

from chainrule.evaluation.characters import characters
from chainrule.evaluation.score import score, score_text, whole_lines
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import encode
from chainrule.text.options import TextOptions
from chainrule.text.tokenizers.bytes import ByteTokenizer
from chainrule.text.tokenizers.words import WordTokenizer

WORDS = Words(["the", "cat", "sat"])


def test_a_line_has_the_sum_of_its_tokens():
    model = History(WORDS.vocabulary_size)
    lines = ["the cat sat", "", "dog the", "the cat sat"]
    found = score(model, WORDS, lines)
    assert [scored.ids.tolist() for scored in found] == [[3, 4, 5, 2], [2], [0, 3, 2], [3, 4, 5, 2]]
    for scored in found:
        expected = model.score(scored.ids[None])[0]
        np.testing.assert_array_equal(scored.log_probs, expected)
        assert scored.log_prob == pytest.approx(expected.sum())
    assert found[0].log_prob == found[3].log_prob


def test_scoring_no_lines_gives_no_scores():
    assert score(History(6), WORDS, []) == []


@settings(deadline=None, max_examples=50)
@given(st.text("ab é\u2028\r\n", max_size=40), st.integers(4, 9))
def test_lines_end_at_newlines_and_nowhere_else(tmp_path_factory, text, batch):
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes(text.encode() + b"x")
    blocks = list(whole_lines(open_corpus(path), batch))
    assert all(block.endswith(b"\n") for block in blocks)
    assert b"".join(blocks).decode() == text + "x\n"


def test_a_line_longer_than_a_chunk_stays_whole(tmp_path):
    lines = ["é" * 2_000_000, "", "short"]
    with gzip.open(tmp_path / "a.txt.gz", "wb") as file:
        file.write("\n".join([*lines, ""]).encode())
    assert b"".join(whole_lines(open_corpus(tmp_path / "a.txt.gz"))).decode().split("\n") == [*lines, ""]


def test_documents_without_a_line_end_at_their_end_get_one(tmp_path):
    texts = ["a b", "", "c\nd", "e\n", "\n"]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    for size in (4, 1 << 20):
        assert b"".join(whole_lines(open_corpus(tmp_path / "a.jsonl"), size)) == b"a b\nc\nd\ne\n\n"


@pytest.mark.parametrize("tokenizer", [WORDS, WordTokenizer([b"<unk>", b"<s>", b"</s>", b"the", b"cat", b"sat"])])
def test_a_text_as_it_lies_in_a_file_has_the_scores_of_its_lines(tokenizer):
    """Also by a tokenizer that knows strings only."""
    model, lines = History(6), ["the cat sat", "", "dog the dog", " ", "sat"]
    found = score_text(model, tokenizer, "".join(f"{line}\n" for line in lines).encode())
    expected = score(model, tokenizer, lines)
    assert found.log_prob == pytest.approx([each.log_prob for each in expected])
    assert found.tokens.tolist() == [len(each.ids) for each in expected] == [4, 1, 4, 1, 2]
    assert found.times(0).tolist() == [0, 0, 2, 0, 0]
    assert found.times(None).tolist() == [0] * 5
    for own, other in zip(found.each(), expected, strict=True):
        np.testing.assert_array_equal(own.ids, other.ids)
        np.testing.assert_array_equal(own.log_probs, other.log_probs)


def test_no_text_has_no_lines():
    found = score_text(History(6), WordTokenizer([b"<unk>", b"<s>", b"</s>"]), b"")
    assert (len(found.log_prob), len(found.tokens), found.each()) == (0, 0, [])


@pytest.mark.parametrize(("text", "blank"), [("héllo\n\n \nwörld 😀\n", 3), ("abc", 0), ("\n\n\u2028é\n", 2)])
def test_characters_are_those_of_the_units_that_were_read(tmp_path, text, blank):
    """A document keeps all of them; lines leave out those of the blank ones."""
    (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
    for unit, expected in (("document", len(text)), ("line", len(text) - blank)):
        options = TextOptions(unit=unit)
        corpus = open_corpus(tmp_path / "a.txt", options)
        assert characters(corpus, encode(corpus, ByteTokenizer(), options)) == expected


def test_bytes_are_scored_as_bytes():
    model = History(258, start=0)
    assert [scored.ids.tolist() for scored in score(model, Bytes(), ["é"])] == [[2 + 0xC3, 2 + 0xA9, 1]]
