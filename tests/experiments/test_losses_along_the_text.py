"""Losses of any tokens lie at the bytes of the text, and units of text are what the bootstrap draws."""

import numpy as np
import pytest

from chainrule.experiments.losses import Losses, document_places, places, units
from chainrule.recipe.registry import build
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.options import TextOptions

TEXTS = ["The cat sat.\nIt was tired.\n", "Äpfel und Öl", "third: one line\n"]


@pytest.fixture
def corpus(tmp_path):
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
    return open_corpus(tmp_path)


@pytest.mark.parametrize("tokenizer", ["bytes", {"name": "byte_pair", "size": 270}, "characters"])
@pytest.mark.parametrize("unit", ["document", "line"])
def test_every_token_ends_where_its_text_ends(corpus, tokenizer, unit):
    options = TextOptions(unit=unit)
    trained, _ = fit_and_encode(corpus, build("text/tokenizers", tokenizer), options)
    encoded = encode(corpus, trained, options)
    found = places(trained, encoded, [text.encode() for text in TEXTS])
    stream = "".join(text + "\0" for text in TEXTS).encode()  # a place for the end of each document
    start = 0
    for id, end in zip(encoded.ids.tolist(), found.tolist(), strict=True):
        text = stream[start:end]
        if id == trained.end:
            assert text in (b"\0", b"\n", b"\n\0")
        else:
            assert text.decode(errors="replace") == trained.decode(np.array([id]))
        start = end
    assert start == len(stream)


def test_tokens_that_lose_text_have_no_places(corpus):
    trained, _ = fit_and_encode(corpus, build("text/tokenizers", "words"), TextOptions())
    assert places(trained, encode(corpus, trained, TextOptions()), [text.encode() for text in TEXTS]) is None


def test_bits_between_places_are_shared_by_the_bytes_of_a_token():
    losses = Losses(np.array([2, 6, 7]), np.array([1.0, 8.0, 0.5]))
    np.testing.assert_allclose(losses.between(np.array([0, 2, 3, 6, 7])), [1, 2, 6, 0.5])
    assert losses.between(np.array([0, 7])).sum() == 9.5


def test_blocks_of_one_book_are_not_called_documents():
    drawn = units([b"x" * 8000] * 39, "block")
    assert drawn.kind == "blocks" and "39 blocks of about 8,000 bytes, cut from longer documents" in drawn.note
    few = units([b"x" * 8000] * 7, "block")
    assert few.kind == "blocks" and "the held-out text is 56,000 bytes in 7 passages:" in few.note
    assert units([b"x"] * 39, "line").kind == "lines"


def test_many_documents_are_the_units():
    drawn = units([b"x" * size for size in range(1, 23)])
    assert drawn.kind == "documents" and drawn.note is None
    assert drawn.bytes.tolist() == list(range(1, 23))
    np.testing.assert_array_equal(drawn.places, document_places([b"x" * size for size in range(1, 23)]))


@pytest.mark.parametrize("sizes", [[3000], [1200, 5], [7], [100, 100, 100]])
def test_few_documents_are_resampled_in_blocks_that_cover_the_text(sizes):
    drawn = units([b"x" * size for size in sizes])
    assert drawn.kind == "blocks" and int(drawn.bytes.sum()) == sum(sizes)
    assert (np.diff(drawn.places) >= drawn.bytes).all() and drawn.places[-1] == sum(sizes) + len(sizes)
    assert f"of {sum(sizes):,} bytes: intervals come from {len(drawn.bytes)} block" in drawn.note
    assert ("So little text" in drawn.note) == (len(drawn.bytes) < 20)
