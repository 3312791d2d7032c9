"""Word similarity: do cosines rank pairs of words as people do?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.recipe.registry import part
from chainrule.vectors.evaluations._evaluation import numbered_lines, row_of
from chainrule.vectors.store import Vectors

SEPARATORS = ("\t", ";", ",")  # tried in this order, then white space
LEMMA = re.compile(r"-[a-z]$")  # MEN's lemma form: sun-n
Pair = tuple[str, str, float]


@part
class Similarity:
    """Pairs of words with people's scores: Spearman's ρ of cosines and scores, and Pearson's r.

    ρ = the correlation of the ranks, ties sharing their mean rank; Spearman 1904. Pairs with unknown words are left out
    and counted; where unseen words have vectors of subwords, figures with them follow.
    """

    units, measured_by = "pairs", "spearman"

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Two words and later a number in every line but a heading."""
        rows = [line for _, line in islice(numbered_lines(path), 21)]
        _, column = _layout(rows)
        return column is not None

    def measure(self, vectors: Vectors, path: Path) -> dict[str, Any]:
        pairs = list(_pairs(path))
        seen = np.array([min(row_of(vectors, one), row_of(vectors, other)) >= 0 for one, other, _ in pairs], bool)
        found = _figures(vectors, [pair for pair, known in zip(pairs, seen, strict=True) if known], len(pairs))
        if vectors.subwords is not None and not seen.all():
            composed = [pair for pair in pairs if all(_vector(vectors, word) is not None for word in pair[:2])]
            again = _figures(vectors, composed, len(pairs))
            found |= {f"{key}_with_subwords": value for key, value in again.items()}
        return found

    def answers(self, vectors: Vectors, path: Path) -> np.ndarray:
        """(pairs, 2): the cosine and people's score; subwords give unseen words a vector."""
        return np.array([[_cosine(vectors, one, other), score] for one, other, score in _pairs(path)])


def _cosine(vectors: Vectors, one: str, other: str) -> float:
    """NaN where one has no vector."""
    found = [_vector(vectors, word) for word in (one, other)]
    return float("nan") if any(each is None for each in found) else vectors.similarity(*found)


def _figures(vectors: Vectors, pairs: list[Pair], total: int) -> dict[str, Any]:
    cosines = np.array([vectors.similarity(_vector(vectors, one), _vector(vectors, other)) for one, other, _ in pairs])
    scores = np.array([score for _, _, score in pairs])
    return {"pairs": len(pairs), "skipped": total - len(pairs), "coverage": len(pairs) / max(1, total),
            "spearman": correlation(ranks(cosines), ranks(scores)), "pearson": correlation(cosines, scores)}


def _vector(vectors: Vectors, word: str) -> Any:
    """The word's vector, spelled as it is or in lower case; of subwords, or None, where it was never seen."""
    row = row_of(vectors, word)
    if row >= 0:
        return np.asarray(vectors.table[row])
    return None if vectors.subwords is None else vectors.subwords.vector(word.lower())


def _pairs(path: Path) -> Iterator[Pair]:
    rows = list(numbered_lines(path))
    separator, column = _layout([line for _, line in rows[:21]])
    assert column is not None, "only recognized files are measured"
    for index, (number, line) in enumerate(rows):
        fields = _fields(line, separator)
        score = _number(fields[column]) if len(fields) > column else None
        if score is None:
            if index == 0:
                continue  # a heading
            raise DataError(f"{path}: line {number}: {line[:40]!r}, expected two words and a number.")
        yield LEMMA.sub("", fields[0]), LEMMA.sub("", fields[1]), score


def _layout(rows: list[str]) -> tuple[str | None, int | None]:
    """What separates the fields, and which is the score: the first after two words that is a number in most rows."""
    body = rows[1:] if len(rows) > 1 else rows  # the first may be a heading
    separator = next((each for each in SEPARATORS if 2 * sum(row.count(each) >= 2 for row in body) > len(body)), None)
    table = [fields for row in body if _words(fields := _fields(row, separator))]
    for column in range(2, max(map(len, table), default=0)):
        if 2 * sum(len(fields) > column and _number(fields[column]) is not None for fields in table) >= len(body):
            return separator, column
    return separator, None


def _words(fields: list[str]) -> bool:
    return len(fields) > 2 and all(field and _number(field) is None for field in fields[:2])


def _fields(line: str, separator: str | None) -> list[str]:
    return [field.strip().strip('"') for field in line.split(separator)]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def correlation(one: np.ndarray, other: np.ndarray) -> float | None:
    """Pearson's r; None where there are no two different values."""
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return float(np.corrcoef(one, other)[0, 1])


def spearman(one: np.ndarray, other: np.ndarray) -> float | None:
    """The correlation of the ranks."""
    return correlation(ranks(one), ranks(other))


def ranks(values: np.ndarray) -> np.ndarray:
    """From 1; equal values share the mean of their ranks."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]
