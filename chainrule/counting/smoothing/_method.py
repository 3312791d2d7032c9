"""What every smoothing method answers: how much of a context's probability its seen words keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from chainrule.counting.counts import Counts


@dataclass(frozen=True)
class Group:
    """A run of contexts with all their continuations: n-grams of one order, in the order of the table."""

    order: int  # n, the length of the n-grams
    counts: np.ndarray  # float64 (n-grams,): raw or continuation counts, as the method asked; 0 has to keep 0
    starts: np.ndarray  # int64 (contexts + 1,): each context's first n-gram within `counts`
    whole: np.ndarray  # bool (contexts,): the context is as long as it can be (n = N, or it begins with <s>)

    @cached_property
    def totals(self) -> np.ndarray:
        """Σ_w c(hw) for each context h; 0 where it has no continuation."""
        return self.sum(self.counts)

    @cached_property
    def types(self) -> np.ndarray:
        """How many distinct words follow each context."""
        return self.sum((self.counts > 0).astype(np.float64))

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Sums of per-n-gram values for each context."""
        sums = np.zeros(len(self.starts) - 1)
        filled = np.flatnonzero(np.diff(self.starts))
        if len(filled):
            sums[filled] = np.add.reduceat(values, self.starts[filled])
        return sums

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Per-context values, repeated for each continuation."""
        return np.repeat(values, np.diff(self.starts))


@dataclass(frozen=True)
class Evidence:
    """What a method may learn its parameters from."""

    counts: Counts
    count_of_counts: list[np.ndarray]  # [n−1][j]: how many n-grams have (raw or continuation) count j; j ≤ 8
    vocabulary_size: int  # V: the words that can be predicted
    held_out: np.ndarray | None  # ids of text kept out of the counts
    end: int
    say: Callable[[str], None]
    barred: tuple[int, ...]  # words that are never predicted
    unknown: int | None  # <unk>, where it can be predicted


def named_orders(orders: Sequence[int]) -> str:
    """`order 2`, `orders 1 and 2`, `orders 1 to 5`, `orders 1, 3 and 4`."""
    first, last = orders[0], orders[-1]
    if len(orders) == 1:
        return f"order {first}"
    if len(orders) > 2 and last - first == len(orders) - 1:
        return f"orders {first} to {last}"
    return f"orders {', '.join(map(str, orders[:-1]))} and {last}"


class Smoothing(Protocol):
    """p(w|h) = kept(hw)/mass(h) + γ(h) p(w|h′),  γ(h) = 1 − Σ_w kept(hw)/mass(h).

    A method that does not interpolate leaves p(w|h) = kept(hw)/mass(h) for seen words and scales p(w|h′) for others.
    """

    uses: Literal["raw", "continuation"]
    interpolates: bool
    learned: dict[str, object]  # what `fit` found, for the report

    def fit(self, evidence: Evidence) -> None: ...

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        """`kept` for each n-gram and `mass` for each context, both in counts."""
        ...
