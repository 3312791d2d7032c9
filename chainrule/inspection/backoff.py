"""Which order of an n-gram model answered for each token, and the path by which it came there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.counting.paths import Path


@dataclass(frozen=True)
class Step:
    """One context that did not have the token: how many words long it is, and the weight γ that leaving it costs.

    `weight` is None where the table does not have the context at all; then leaving it costs nothing, γ = 1.
    """

    context: int
    weight: float | None


@dataclass(frozen=True)
class Answer:
    """The order that answered, the probability that it has stored, and the steps down to it: p = Π weights · stored."""

    order: int
    stored: float
    steps: tuple[Step, ...]

    @property
    def probability(self) -> float:
        return self.stored * math.prod(step.weight for step in self.steps if step.weight is not None)


def answers(path: Path) -> list[Answer]:
    """For each token of a unit that begins after <s>, from the longest context it could have down to the answer."""
    longest = path.backoffs.shape[-1]
    found = []
    for t, (order, stored, backoffs) in enumerate(zip(path.order, path.stored, path.backoffs, strict=True)):
        contexts = range(min(longest, t + 1), int(order) - 1, -1)
        steps = tuple(Step(k, None if math.isnan(backoffs[k - 1]) else float(np.exp(backoffs[k - 1])))
                      for k in contexts)
        found.append(Answer(int(order), float(np.exp(stored)), steps))
    return found


def by_order(found: Sequence[Answer], longest: int) -> list[int]:
    """How many tokens each order answered for, from 1."""
    counted = Counter(answer.order for answer in found)
    return [counted[n] for n in range(1, longest + 1)]
