"""Entities found and missed: precision, recall and F1, with what each sentence adds to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from chainrule.errors import DataError
from chainrule.inputs.tag_schemes import OUTSIDE, parted, spans

__all__ = ["EntityScores", "entity_f1", "f1_of", "spans", "strict_spans"]

Reading = Callable[[Sequence[str], str], list[tuple[str, int, int]]]


@dataclass(frozen=True)
class EntityScores:
    """An entity counts as found if type, first and last word are right."""

    counts: np.ndarray = field(repr=False)  # (sentences, 3): correct, predicted and gold entities of each
    per_type: dict[str, dict[str, float]]  # by name: precision, recall, f1, correct, predicted, gold

    @property
    def precision(self) -> float:
        return _rates(*self.counts.sum(axis=0))["precision"]

    @property
    def recall(self) -> float:
        return _rates(*self.counts.sum(axis=0))["recall"]

    @property
    def f1(self) -> float:
        return _rates(*self.counts.sum(axis=0))["f1"]


def entity_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], scheme: str, *,
              reading: Reading = spans) -> EntityScores:
    r"""P = correct / predicted,   R = correct / gold,   F₁ = 2PR / (P + R) over all entities of all sentences (micro).

    With `spans` it equals seqeval's default, which is conlleval's; with `strict_spans` seqeval's `mode="strict"`.
    A rate of nothing is 0.
    """
    if len(gold) != len(predicted):
        raise DataError(f"sentences = {len(predicted)} predicted, expected {len(gold)}.")
    counts = np.zeros((len(gold), 3), np.int64)
    of_types: tuple[Counter[str], Counter[str], Counter[str]] = Counter(), Counter(), Counter()
    for number, (right, found) in enumerate(zip(gold, predicted, strict=True)):
        if len(right) != len(found):
            raise DataError(f"sentence {number + 1}: tags = {len(found)} predicted, expected {len(right)}.")
        theirs, ours = set(reading(right, scheme)), set(reading(found, scheme))
        for place, entities in enumerate((theirs & ours, ours, theirs)):
            counts[number, place] = len(entities)
            of_types[place].update(kind for kind, *_ in entities)
    types = sorted(of_types[1].keys() | of_types[2].keys())
    return EntityScores(counts, {kind: _rates(*(each[kind] for each in of_types)) for kind in types})


def f1_of(totals: np.ndarray) -> np.ndarray:
    """(…,): F₁ of sums (…, 3) of sentences' counts, as a bootstrap draws them; 0 where there is no entity."""
    both = totals[..., 1] + totals[..., 2]
    return 2 * totals[..., 0] / np.maximum(both, 1)


def _rates(correct: int, predicted: int, gold: int) -> dict[str, float]:
    return {"precision": float(correct / predicted) if predicted else 0.0,
            "recall": float(correct / gold) if gold else 0.0,
            "f1": float(2 * correct / (predicted + gold)) if correct else 0.0,
            "correct": int(correct), "predicted": int(predicted), "gold": int(gold)}


def strict_spans(tags: Sequence[str], scheme: str) -> list[tuple[str, int, int]]:
    """Only entities that keep the rules of their scheme: B I* in `bio`, S or B I* E in `bioes`.

    In `iob1`, I I* after anything but its own kind, or B I* right after it. As seqeval with `mode="strict"`.
    """
    parts = [*(parted(tag, scheme) for tag in tags), (OUTSIDE, "")]
    found, place = [], 0
    while place < len(tags):
        before = parts[place - 1] if place else (OUTSIDE, "")
        if not _begins(before, parts[place], scheme):
            place += 1
            continue
        begin, place = place, place + 1
        while _goes_on(parts[place - 1], parts[place]):
            place += 1
        if _ends(parts[place - 1], parts[place], scheme):
            found.append((parts[begin][1], begin, place))
    return found


def _begins(before: tuple[str, str], now: tuple[str, str], scheme: str) -> bool:
    if scheme != "iob1":
        return now[0] in "BS"
    if now[0] == "I":
        return before[0] != "I" or before[1] != now[1]
    return now[0] == "B" and before[0] != OUTSIDE and before[1] == now[1]


def _goes_on(before: tuple[str, str], now: tuple[str, str]) -> bool:
    return before[0] in "BI" and now[0] in "IE" and before[1] == now[1]


def _ends(last: tuple[str, str], behind: tuple[str, str], scheme: str) -> bool:
    if scheme == "bioes":
        return last[0] in "ES"
    return scheme != "iob1" or last[0] == "I" or behind[0] != "B" or last[1] == behind[1]
