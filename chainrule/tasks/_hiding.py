"""Which tokens are hidden: single ones, whole words, or spans."""

from __future__ import annotations

import numpy as np

from chainrule.protocols import Tokenizer

GEOMETRIC, LONGEST = 0.2, 10  # of the lengths of spans: SpanBERT, §3.1


def tokens_alone(ids: np.ndarray, able: np.ndarray, rate: float, draw: np.random.Generator) -> np.ndarray:
    """(B, T): each token that is able to be hidden by itself, and one at least."""
    order = np.where(able, draw.random(ids.shape), 2.0)
    return (order < rate) | (order == order.min())


def whole_words(ids: np.ndarray, able: np.ndarray, rate: float, draw: np.random.Generator, *, begins: np.ndarray
                ) -> np.ndarray:
    """All tokens of a word, or none; `begins` (V,) says which tokens begin one."""
    starts = begins[ids] | ~able
    starts[:, 0] = True
    number = np.cumsum(starts, axis=1) - 1
    chances = np.take_along_axis(draw.random(ids.shape), number, axis=1)  # one for all tokens of a word
    order = np.where(able, chances, 2.0)
    return (order < rate) | (order == order.min())


def spans(ids: np.ndarray, able: np.ndarray, rate: float, draw: np.random.Generator) -> np.ndarray:
    """Spans that begin anywhere, of geometric lengths, in each row until so many tokens are hidden."""
    hidden = np.zeros(ids.shape, bool)
    for row, own in zip(hidden, able, strict=True):
        wanted = max(1, round(rate * int(own.sum())))
        places = draw.permutation(len(row))
        lengths = np.minimum(draw.geometric(GEOMETRIC, len(row)), LONGEST)
        for place, length in zip(places.tolist(), lengths.tolist(), strict=True):
            missing = wanted - int((row & own).sum())
            if missing <= 0:
                break
            row[place:place + min(length, missing)] = True
    return hidden & able


def word_beginnings(tokenizer: Tokenizer) -> np.ndarray:
    """(V,): whether a token begins a word: its text has white space before it, or the tokenizer splits into words."""
    if not tokenizer.keeps_space:
        return np.ones(tokenizer.vocabulary_size, bool)
    found = [tokenizer.decode(np.array([id], np.int32))[:1].isspace() for id in range(tokenizer.vocabulary_size)]
    return np.array(found, bool)
