"""ROUGE: the words, pairs of words and longest common subsequences that a summary shares with its references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

WORD = re.compile(r"[a-z0-9]+")
NAMES = ("rouge1", "rouge2", "rougeL")


def words(text: str) -> list[str]:
    """Runs of letters a–z and digits in lower case, as Google's rouge-score splits without stemming."""
    return WORD.findall(text.lower())


def rouge(hypothesis: str, reference: str) -> tuple[float, float, float]:
    """F of ROUGE-1, ROUGE-2 and ROUGE-L: 2PR / (P + R). Lin 2004, "ROUGE", §2 and §3."""
    ours, theirs = words(hypothesis), words(reference)
    return _overlap(ours, theirs, 1), _overlap(ours, theirs, 2), _f(_common(ours, theirs), len(ours), len(theirs))


def rouge_table(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """(texts, 3): of each text the best F over its references."""
    return np.array([np.max([rouge(text, each) for each in own], axis=0)
                     for text, own in zip(hypotheses, references, strict=True)]).reshape(-1, 3)


def _overlap(ours: Sequence[str], theirs: Sequence[str], n: int) -> float:
    one, other = (Counter(zip(*(each[k:] for k in range(n)), strict=False)) for each in (ours, theirs))
    return _f((one & other).total(), one.total(), other.total())


def _f(hits: int, given: int, wanted: int) -> float:
    return 2 * hits / (given + wanted) if hits else 0.0


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(theirs) + 1)
    for word in ours:
        before = 0
        for place, other in enumerate(theirs, start=1):
            before, row[place] = row[place], before + 1 if word == other else max(row[place], row[place - 1])
    return row[-1]
