"""How one sequence becomes another by the fewest edits: what word error rates count."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Edits:
    """Of a reference and what was said instead: items replaced, left out and added; and items of the reference."""

    substitutions: int
    deletions: int
    insertions: int
    items: int

    @property
    def errors(self) -> int:
        return self.substitutions + self.deletions + self.insertions


def edits(reference: Sequence[Hashable], said: Sequence[Hashable]) -> Edits:
    r"""The fewest that turn the reference into what was said.

    d(i, j) = min(d(i − 1, j − 1) + [r_i ≠ s_j], d(i − 1, j) + 1, d(i, j − 1) + 1)

    Levenshtein 1966; Wagner & Fischer 1974. Of equally few, those with most substitutions.
    """
    numbers: dict[Hashable, int] = {}
    r, s = (np.array([numbers.setdefault(each, len(numbers)) for each in side], np.int64) for side in (reference, said))
    d = np.zeros((len(r) + 1, len(s) + 1), np.int64)
    d[0], ahead = np.arange(len(s) + 1), np.arange(len(s) + 1)
    for i, own in enumerate(r, start=1):
        d[i, 0] = i
        d[i, 1:] = np.minimum(d[i - 1, :-1] + (s != own), d[i - 1, 1:] + 1)
        d[i] = np.minimum.accumulate(d[i] - ahead) + ahead  # an insertion may follow anything on its left
    return _traced(d, r, s)


def _traced(d: np.ndarray, r: np.ndarray, s: np.ndarray) -> Edits:
    """Counts the edits on a shortest way back."""
    i, j, replaced, left_out, added = len(r), len(s), 0, 0, 0
    while i or j:
        if i and j and d[i, j] == d[i - 1, j - 1] + (r[i - 1] != s[j - 1]):
            replaced += int(r[i - 1] != s[j - 1])
            i, j = i - 1, j - 1
        elif i and d[i, j] == d[i - 1, j] + 1:
            left_out += 1
            i -= 1
        else:
            added += 1
            j -= 1
    return Edits(replaced, left_out, added, len(r))
