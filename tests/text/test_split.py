"""Splits: the whole text, each passage once, the same for the same seed."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import corpus_of, text_of

from chainrule.errors import DataError, OptionError
from chainrule.recipe.registry import build
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import encode
from chainrule.text.options import TextOptions
from chainrule.text.split import BLOCK, WHOLE, part, passage_bytes, passages, split

LINES = [f"line {i} of the text\n" for i in range(200)]


def lines_of(corpus):
    return text_of(corpus).decode().splitlines(keepends=True)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.25, 0.5, 0.9])
def test_every_line_is_in_exactly_one_part(fraction):
    train, valid = split(corpus_of("".join(LINES)), fraction, seed=3)
    assert sorted(lines_of(train) + lines_of(valid)) == sorted(LINES)
    assert abs(len(lines_of(valid)) - fraction * len(LINES)) <= 1


def test_each_seed_gives_its_own_split():
    corpus = corpus_of("".join(LINES))
    first, again, other = (lines_of(split(corpus, 0.1, seed)[1]) for seed in (1, 1, 2))
    assert first == again != other
    gaps = np.diff([LINES.index(line) for line in first])
    assert len(set(gaps.tolist())) > 1  # not simply every tenth


def test_parts_of_a_split_have_fingerprints_of_their_own():
    corpus = corpus_of("".join(LINES))
    found = [one.fingerprint() for seed in (1, 2) for one in split(corpus, 0.1, seed)]
    assert len({*found, corpus.fingerprint()}) == 5


def test_long_documents_are_cut_into_blocks_of_lines():
    corpus = corpus_of("".join(f"{i} grass and hay and corn\n" for i in range(20_000)))
    assert passage_bytes(corpus) == BLOCK
    train, valid = split(corpus, 0.1)
    lines = lines_of(valid)
    numbers = np.array([int(line.split()[0]) for line in lines])
    assert (np.diff(numbers) == 1).mean() > 0.99
    assert abs(len(text_of(valid)) / len(text_of(corpus)) - 0.1) < 0.02
    assert sum(chunk.ends_document for chunk in valid.chunks()) == 1 + (np.diff(numbers) != 1).sum()


def test_many_documents_are_kept_whole(tmp_path):
    path = tmp_path / "a.jsonl"
    texts = [f"document {i}\n" * 2000 for i in range(120)]
    path.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    corpus = open_corpus(path)
    assert passage_bytes(corpus) == WHOLE
    train, valid = split(corpus, 0.2)
    assert sum(chunk.ends_document for chunk in train.chunks()) == 96
    assert sum(chunk.ends_document for chunk in valid.chunks()) == 24


@settings(max_examples=50)
@given(text=st.text(st.sampled_from("ab \n\né"), max_size=80), least=st.sampled_from([1, 5, 20, WHOLE]),
       size=st.integers(4, 40))
def test_passages_do_not_depend_on_how_the_text_is_chunked(text, least, size):
    found = [_joined(passages(corpus_of(text), least, chunk_size)) for chunk_size in (size, 1 << 20)]
    assert found[0] == found[1]
    assert b"".join(found[0]) == text.encode()


def _joined(pieces):
    by_number = {}
    for number, chunk in pieces:
        by_number[number] = by_number.get(number, b"") + chunk.data
    return list(by_number.values())


@pytest.mark.parametrize("unit, tokenizer", [("line", "words"), ("document", "bytes")])
def test_parts_together_have_the_units_of_the_whole(tmp_path, unit, tokenizer):
    for i in range(7):
        (tmp_path / f"{i}.txt").write_text("".join(f"{word} {i}\n" for word in ("cows", "eat", "grass") * 3))
    corpus, options = open_corpus(tmp_path), TextOptions()
    trained = build("text/tokenizers", tokenizer).train(corpus, options)
    whole = encode(corpus, trained, options)
    parts = [encode(part(corpus, i, 3, unit), trained, options) for i in (1, 2, 3)]
    units = sorted(tuple(one.unit(r).tolist()) for one in parts for r in range(one.units))
    assert units == sorted(tuple(whole.unit(r).tolist()) for r in range(whole.units))
    assert sum(int(one.bytes.sum()) for one in parts) == int(whole.bytes.sum())


def test_too_few_lines_to_split_is_an_error():
    with pytest.raises(DataError, match=r"split\.valid = 0\.01 of 3 lines sets 0 aside and leaves 3\..* --valid"):
        [split(corpus_of("a\nb\nc\n"), 0.01, seed) for seed in range(20)]


def test_blank_lines_are_no_passages_of_their_own():
    train, valid = split(corpus_of("a\n\n\n\nb\n\n\n\n"), 0.5)
    assert sorted(text_of(one).strip() for one in (train, valid)) == [b"a", b"b"]


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 2])
def test_a_fraction_outside_zero_and_one_is_refused(fraction):
    with pytest.raises(OptionError, match=rf"split\.valid = {fraction}, expected a number between 0 and 1"):
        split(corpus_of("hay"), fraction)


@pytest.mark.parametrize("fraction", [1e-300, 1e-9, 1 - 1e-12])
def test_a_share_finer_than_a_millionth_is_refused(fraction):
    with pytest.raises(OptionError, match=rf"split\.valid = {fraction}, expected between 0.000001 and 0.999999"):
        split(corpus_of("a\n" * 10), fraction)


@pytest.mark.parametrize("i, n", [(0, 3), (4, 3), (1, 0)])
def test_a_part_that_does_not_exist_is_refused(i, n):
    with pytest.raises(OptionError, match=rf"part = '{i}/{n}', expected 1/"):
        part(corpus_of("hay"), i, n, "line")
