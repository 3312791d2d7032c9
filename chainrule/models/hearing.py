"""What a transcriber heard when: each token with the stretch of time that said it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Heard:
    """A recording's text, token by token: where in time each was said, and how sure the model was of it there."""

    text: str
    log_prob: float
    tokens: list[str]
    spans: list[tuple[int, int]]  # first vector of each token, and the one behind its last
    weights: np.ndarray  # (tokens, vectors): p of the token at each, or how much writing it looked there
    step: float  # seconds from one vector to the next
    words: list[int]  # which word of the text each token is of; −1 for what stands between words
    shows: str = "probability"  # what the weights are; or "attention"


def spans_of(places: np.ndarray, count: int) -> list[tuple[int, int]]:
    """From the number of the token that each vector says, −1 for none, to the stretch of each token."""
    found = [np.flatnonzero(places == n) for n in range(count)]
    return [(int(own[0]), int(own[-1]) + 1) for own in found]


def words_of(prefixes: Sequence[str]) -> list[int]:
    """Of the texts that the first 1, 2, … tokens spell: which word the last token of each belongs to."""
    found, before = [], ""
    for text in prefixes:
        added = text[len(before):] if text.startswith(before) else text
        found.append(len(text.split()) - 1 if added.strip() else -1)
        before = text
    return found


def timed_words(heard: Heard) -> list[tuple[str, float, float]]:
    """Each word with the seconds at which it begins and ends."""
    found = []
    for number, word in enumerate(heard.text.split()):
        own = [span for span, of in zip(heard.spans, heard.words, strict=True) if of == number]
        if own:
            found.append((word, own[0][0] * heard.step, own[-1][1] * heard.step))
    return found
