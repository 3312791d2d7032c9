"""Analogies: a is to b as c is to d; the file of word2vec with its sections, or that of MSR."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.recipe.registry import part
from chainrule.vectors.evaluations._evaluation import numbered_lines, row_of
from chainrule.vectors.store import Vectors

TOGETHER = 4096  # questions whose words' cosines are kept at a time
AT_ONCE = 128  # questions that are answered in one step
ROWS = 2048  # of the table at a time: what belongs to a step stays in the processor's cache
EPSILON = 0.001  # of 3CosMul
COUNTS = ("asked", "correct", "correct_3cosmul", "skipped")


@part
class Analogies:
    """Analogy questions, `a b c d` a line in sections headed `: name`: how often argmax cos(x, b − a + c) is d.

    Mikolov et al. 2013, arXiv:1301.3781 §4. The words asked about are no answers; d must be the nearest of all others.
    Beside it 3CosMul, argmax cos(x,b) cos(x,c) / (cos(x,a) + ε) with cosines taken to [0, 1]: Levy & Goldberg 2014.
    """

    units, measured_by = "questions", "accuracy"

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Lines of four words, or of five with a tag in the fourth place (MSR); with a heading, whatever follows."""
        first = [line for _, line in islice(numbered_lines(path), 20)]
        rows = [line.split() for line in first if not line.startswith(":")]
        labeled = all(row[0].isdigit() or row[0].startswith("__label__") for row in rows)
        return not labeled and (first[0].startswith(": ") or {len(row) for row in rows} <= {4, 5})

    def measure(self, vectors: Vectors, path: Path) -> dict[str, Any]:
        sections: dict[str, dict[str, int]] = {}
        asked: list[tuple[str, list[int]]] = []
        for section, words in _questions(path):
            counted = sections.setdefault(section, dict.fromkeys(COUNTS, 0))
            rows = [row_of(vectors, word) for word in words]
            counted["skipped" if min(rows) < 0 else "asked"] += 1
            if min(rows) >= 0:
                asked.append((section, rows))
        for low in range(0, len(asked), TOGETHER):
            some = asked[low : low + TOGETHER]
            rows_Q4 = np.array([rows for _, rows in some])
            added, multiplied = (found == rows_Q4[:, 3] for found in answers(vectors, rows_Q4[:, :3]))
            for (section, _), right, right_too in zip(some, added.tolist(), multiplied.tolist(), strict=True):
                sections[section]["correct"] += right
                sections[section]["correct_3cosmul"] += right_too
        total = {key: sum(each[key] for each in sections.values()) for key in COUNTS}
        return {**_rated(total), "sections": {name: _rated(each) for name, each in sections.items()}}

    def answers(self, vectors: Vectors, path: Path) -> np.ndarray:
        """(questions, 2): whether 3CosAdd finds the word, and 1."""
        rows_Q4 = np.array([[row_of(vectors, word) for word in words] for _, words in _questions(path)])
        found = np.full((len(rows_Q4), 2), np.nan)
        known = np.flatnonzero(rows_Q4.min(axis=1) >= 0)
        for low in range(0, len(known), TOGETHER):
            some = known[low : low + TOGETHER]
            found[some, 0] = answers(vectors, rows_Q4[some, :3])[0] == rows_Q4[some, 3]
        found[known, 1] = 1
        return found


def _questions(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Section and words; the tags of MSR are its sections."""
    section = path.name
    for number, line in numbered_lines(path):
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        words = line.split()
        if len(words) not in (4, 5):
            raise DataError(f"{path}: line {number}: {len(words)} words, expected 4, or 5 with a tag before the last.")
        yield (words[3] if len(words) == 5 else section), [*words[:3], words[-1]]


def answers(vectors: Vectors, rows_Q3: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Q,) and (Q,): the rows that 3CosAdd and 3CosMul find for questions a, b, c; ties go to the lower row.

    Both need only the cosines of all words with the few that are asked about: one product of matrices for each block of
    the table, and then sums and products of its rows.
    """
    words, where_Q3 = np.unique(rows_Q3, return_inverse=True)
    where_Q3 = where_Q3.reshape(rows_Q3.shape)
    units = np.asarray(vectors.table[words], np.float32) / vectors.norms[words, None]
    scores = np.full((2, len(rows_Q3)), -np.inf, np.float32)
    found = np.zeros((2, len(rows_Q3)), np.int64)
    for low in range(0, len(vectors.table), ROWS):
        block = np.asarray(vectors.table[low : low + ROWS], np.float32) / vectors.norms[low : low + ROWS, None]
        cosines = units @ block.T
        for first in range(0, len(rows_Q3), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            _improve(cosines, where_Q3[some], rows_Q3[some] - low, low, (scores[:, some], found[:, some]))
    return found[0], found[1]


def _improve(cosines: np.ndarray, where: np.ndarray, asked: np.ndarray, low: int,
             best: tuple[np.ndarray, np.ndarray]) -> None:
    """Puts better answers of one block of the table in the place of the best so far."""
    a, b, c = (cosines[where[:, word]] for word in range(3))
    added = b - a
    added += c
    multiplied = (1 + b) * (1 + c)
    multiplied /= 1 + 2 * EPSILON + a
    question, word = np.nonzero((asked >= 0) & (asked < cosines.shape[1]))
    for row, values in enumerate((added, multiplied)):
        values[question, asked[question, word]] = -np.inf
        nearest = values.argmax(1)
        score = values[np.arange(len(values)), nearest]
        better = score > best[0][row]
        best[0][row, better], best[1][row, better] = score[better], low + nearest[better]


def _rated(counted: dict[str, int]) -> dict[str, Any]:
    asked = counted["asked"]
    return {**counted, "accuracy": counted["correct"] / asked if asked else None,
            "accuracy_3cosmul": counted["correct_3cosmul"] / asked if asked else None}
