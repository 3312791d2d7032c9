"""Likeness of words: do cosines put pairs of words into the order that people put them into?"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.registry import part
from chainrule.vectors.evaluations._evaluation import numbered_lines, row_of
from chainrule.vectors.store import Vectors


@part
class Similarity:
    """Pairs of words with people's scores, `word word score` a line: Spearman's ρ of cosines and scores.

    ρ = the correlation of the ranks, ties sharing their mean rank; Spearman 1904. Pairs with unknown words are left out
    and counted.
    """

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Lines of two words and a number."""
        rows = [_fields(line) for _, line in islice(numbered_lines(path), 20)]
        scored = sum(len(row) >= 3 and _number(row[2]) is not None for row in rows)
        return scored > 0 and scored >= len(rows) - 1  # the first may be a heading

    def measure(self, vectors: Vectors, path: Path) -> dict[str, Any]:
        cosines: list[float] = []
        scores: list[float] = []
        skipped = 0
        for number, line in numbered_lines(path):
            row = _fields(line)
            score = _number(row[2]) if len(row) >= 3 else None
            if score is None:
                if not scores and not skipped:
                    continue  # a heading
                raise DataError(f"{path}: line {number}: {line[:40]!r}, expected two words and a number.")
            one, other = (row_of(vectors, word) for word in row[:2])
            if min(one, other) < 0:
                skipped += 1
                continue
            scores.append(score)
            cosines.append(float(vectors.table[one] @ vectors.table[other] / vectors.norms[one] / vectors.norms[other]))
        return {"pairs": len(scores), "skipped": skipped, "coverage": len(scores) / max(1, len(scores) + skipped),
                "spearman": spearman(np.array(cosines), np.array(scores)) if len(scores) > 1 else None}


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of the ranks."""
    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def ranks(values: np.ndarray) -> np.ndarray:
    """From 1; equal values share the mean of their ranks."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]


def _fields(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else line.split()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
