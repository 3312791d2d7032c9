"""Analogies: a is to b as c is to d; the file of word2vec with its sections, or that of MSR."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.registry import part
from chainrule.vectors import search
from chainrule.vectors.evaluations._evaluation import numbered_lines, row_of
from chainrule.vectors.store import Vectors

AT_ONCE = 256  # questions in one product of matrices


@part
class Analogies:
    """Analogy questions, `a b c d` a line in sections headed `: name`: how often argmax cos(x, b − a + c) is d.

    Mikolov et al. 2013, arXiv:1301.3781 §4. The words asked about are no answers; d must be the nearest of all others.
    """

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Lines of four words, or of five with a tag in the fourth place (MSR)."""
        widths = {len(line.split()) for _, line in islice(numbered_lines(path), 20) if not line.startswith(":")}
        return bool(widths) and widths <= {4, 5}

    def measure(self, vectors: Vectors, path: Path) -> dict[str, Any]:
        sections: dict[str, dict[str, int]] = {}
        questions: list[tuple[str, list[int]]] = []
        for section, words in _questions(path):
            counted = sections.setdefault(section, {"asked": 0, "correct": 0, "skipped": 0})
            rows = [row_of(vectors, word) for word in words]
            counted["skipped" if min(rows) < 0 else "asked"] += 1
            if min(rows) >= 0:
                questions.append((section, rows))
        for low in range(0, len(questions), AT_ONCE):
            some = questions[low : low + AT_ONCE]
            right = _right(vectors, np.array([rows for _, rows in some]))
            for (section, _), correct in zip(some, right.tolist(), strict=True):
                sections[section]["correct"] += correct
        total = {key: sum(each[key] for each in sections.values()) for key in ("asked", "correct", "skipped")}
        rated = {name: {**each, "accuracy": _share(each)} for name, each in sections.items()}
        return {**total, "accuracy": _share(total), "sections": rated}


def _questions(path: Path) -> Iterator[tuple[str, list[str]]]:
    section = path.name
    for number, line in numbered_lines(path):
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        words = line.split()
        if len(words) not in (4, 5):
            raise DataError(f"{path}: line {number}: {len(words)} words, expected 4, or 5 with a tag before the last.")
        yield section, [*words[:3], words[-1]]


def _right(vectors: Vectors, rows: np.ndarray) -> np.ndarray:
    """(questions,): whether the nearest of all other words is the fourth."""
    units = vectors.table[rows].astype(np.float32) / vectors.norms[rows][..., None]
    scores = search.cosines(vectors.table, vectors.norms, units[:, 1] - units[:, 0] + units[:, 2])
    for asked in range(3):
        scores[rows[:, asked], np.arange(len(rows))] = -np.inf
    return scores.argmax(0) == rows[:, 3]


def _share(counted: dict[str, int]) -> float | None:
    return counted["correct"] / counted["asked"] if counted["asked"] else None
