"""Queries of the store: words, vectors, and both with weights; and the errors for queries without an answer."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from chainrule.errors import DataError, UsageError

Asked = str | np.ndarray  # a word, or a vector
Weighted = Asked | tuple[Asked, float]
NOWHERE = 1e-6  # a length at which unit vectors have canceled each other
SEARCHED = 50_000  # frequent words among which a misspelled one is looked for: difflib would take seconds for all


class UnknownWord(DataError, KeyError):
    """A word without a vector; also a KeyError, as for a dict."""

    __str__ = Exception.__str__


class Subwords(Protocol):
    """Gives vectors to unseen words."""

    def vector(self, word: str) -> np.ndarray | None:
        """None where the word has no parts that are known."""
        ...


class Index(Protocol):
    """Finds near rows without comparing all of them."""

    def nearest(self, aim: np.ndarray, count: int) -> np.ndarray:
        """Rows of about the `count` vectors of largest cosine with the aim."""
        ...


def several(asked: Weighted | Iterable[Weighted], weight: float = 1.0) -> list[tuple[Asked, float]]:
    """One word or vector, or several, each with its weight: `"king"`, `["king", ("man", 0.5)]`."""
    every: Any = [asked] if isinstance(asked, str) or _is_vector(asked) else asked
    if not isinstance(every, Iterable):
        raise UsageError(f"asked for {asked!r}, expected a word, a vector, or a list of them.")
    return [(each[0], weight * float(each[1])) if _is_pair(each) else (each, weight) for each in every]


def _is_vector(asked: Any) -> bool:
    return isinstance(asked, np.ndarray) and asked.ndim == 1


def _is_pair(asked: Any) -> bool:
    return isinstance(asked, tuple) and len(asked) == 2 and isinstance(asked[1], int | float | np.number)


def pointing(aim: np.ndarray, asked: Sequence[Asked]) -> np.ndarray:
    """Checks the query vector: it must be finite and not zero, since zeros have the cosine 0 with every word."""
    length = float(np.linalg.norm(aim))
    if not np.isfinite(length):
        raise UsageError("the vector that is searched with has numbers that are not finite.")
    if length < NOWHERE:
        named = ", ".join(each for each in asked if isinstance(each, str)) or "asked"
        what = "its vector is" if len(asked) == 1 else "their vectors add up to"
        raise DataError(f"{named}: {what} zeros, which no word is near.")
    return aim


def other_spelling(word: str, rows: Mapping[str, int]) -> str | None:
    """Another case of a word, or a phrase as one word (`New York` as new_york): the most frequent that has a vector."""
    joined = "_".join(word.split())
    cases = [case for each in (word, joined) for case in (each, each.lower(), each.capitalize(), each.title(),
                                                          each.upper())]
    return min((case for case in cases if case in rows), key=lambda case: rows[case], default=None)


def unknown(word: str, words: Sequence[str], rows: Mapping[str, int]) -> UnknownWord:
    """With a suggestion: another spelling, or the nearest of the more frequent words."""
    other = other_spelling(word, rows)
    near = [other] if other else difflib.get_close_matches(word, words[:SEARCHED], n=1,
                                                           cutoff=0.66 if len(word) < 5 else 0.75)
    return UnknownWord(f"{word or repr(word)}: none of the {len(words):,} words that have a vector."
                       + (f" Did you mean {near[0]!r}?" if near else ""))
