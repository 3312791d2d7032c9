"""Where the bits go, against sums over single bytes."""

import re
from collections import Counter

import numpy as np
import pytest

from chainrule.experiments.breakdowns import by_document, by_frequency, by_position
from chainrule.experiments.excerpts import passages, prompts, spread, title
from chainrule.experiments.losses import Losses
from chainrule.text.corpora import open_corpus

TEXTS = [b"the cat and the dog\n" * 20, "ein Käfer, the the".encode(), b"x" * 70]


@pytest.fixture
def losses():
    """One token for each byte and each document's end; each costs what no other does."""
    size = sum(len(text) + 1 for text in TEXTS)
    return Losses(np.arange(1, size + 1), np.random.default_rng(0).exponential(size=size))


def bytes_with_bits(losses):
    """(document, place in it, bits) of every byte, the ends of documents left out."""
    place = 0
    for number, text in enumerate(TEXTS):
        for i in range(len(text)):
            yield number, i, losses.bits[place + i]
        place += len(text) + 1


def test_by_position(losses):
    found = by_position(TEXTS, {"m": losses})
    assert found["edges"] == [0, 64, 256, 400] and found["unit"] == "bytes"
    for low, high, value in zip(found["edges"][:-1], found["edges"][1:], found["values"]["m"], strict=True):
        assert value == pytest.approx(np.mean([b for _, i, b in bytes_with_bits(losses) if low <= i < high]))


def test_by_document(losses):
    found = by_document(TEXTS, {"m": losses})
    assert found["bytes"] == [len(text) for text in TEXTS]
    assert found["labels"][1] == "ein Käfer, the the"
    ends = np.cumsum([len(text) + 1 for text in TEXTS])
    sums = [part.sum() for part in np.split(losses.bits, ends[:-1])]
    np.testing.assert_allclose(found["values"]["m"], np.array(sums) / found["bytes"])


def test_by_frequency_of_words_in_the_training_text(losses, tmp_path):
    (tmp_path / "a.txt").write_text("the " * 5 + "cat cat\n")
    found = by_frequency(open_corpus(tmp_path), TEXTS, {"m": losses})
    assert found["labels"] == ["2–3", "4–7", "unseen"]
    seen, bits, sizes, place = {"the": 5, "cat": 2}, Counter(), Counter(), 0
    for text in TEXTS:
        for word in re.findall(r"\s*(?:\w+|[^\w\s])|\s+", text.decode()):
            size = len(word.encode())
            if word.strip():  # white space at the end goes with the last word
                label = {5: "4–7", 2: "2–3"}.get(seen.get(word.strip(), 0), "unseen")
            bits[label] += losses.bits[place : place + size].sum()
            sizes[label] += size
            place += size
        bits[label] += losses.bits[place]  # the end goes with the last word
        sizes[label] += 1
        place += 1
    np.testing.assert_allclose(found["values"]["m"], [bits[each] / sizes[each] for each in found["labels"]])
    assert sum(found["shares"]) == pytest.approx(1)


def test_excerpts_are_few_and_spread():
    assert spread(100, 4) == [0, 25, 50, 75] and spread(2, 4) == [0, 1] and spread(0, 4) == []
    assert prompts(TEXTS) == ("the cat and the dog", "ein Käfer, the the", "x" * 48)
    assert prompts([b"one two three four five six\n" * 9]) == ("one two three four five",)
    assert passages(TEXTS) == ((0, 400), (1, 19), (2, 70))
    assert sum(size for _, size in passages([b"y" * 10_000] * 300)) == 20_000
    assert title(b"word " * 40) == "word " * 11 + "word …"
