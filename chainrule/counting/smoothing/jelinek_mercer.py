"""Jelinek–Mercer: relative frequencies of all orders, mixed by weights learned on held-out text."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.counting.smoothing._interpolation import BUCKETS, NEVER, HeldOut, bucket_of
from chainrule.counting.smoothing._method import Evidence, Group
from chainrule.errors import OptionError
from chainrule.recipe.registry import part


@part
class JelinekMercer:
    r"""Interpolates each order with the one below, by weights for each order and size of c(h·) from a held-out text.

    p(w|h) = λ(h) c(hw)/c(h·) + (1 − λ(h)) p(w|h′),   λ(h) = λ_{n, ⌊log₂ c(h·)⌋}
    Jelinek & Mercer 1980; buckets as in Bahl, Jelinek & Mercer 1983; Chen & Goodman 1998, TR-10-98, §2.3. The weights
    are learned by expectation–maximization until a round gains less than `tolerance` nats a token (or after `rounds`),
    or are fixed: `weights`, one an order, the shortest first.
    """

    uses: Literal["raw"] = "raw"
    interpolates = True

    def __init__(self, *, weights: list[float] | None = None, tolerance: float = 1e-5, rounds: int = 100) -> None:
        if weights is not None and not all(0 <= w <= 1 for w in weights):
            raise OptionError("jelinek_mercer.weights", weights, "numbers from 0 to 1")
        if rounds < 1:
            raise OptionError("jelinek_mercer.rounds", rounds, "at least 1")
        self.fixed, self.tolerance, self.rounds = weights, tolerance, rounds
        self.weights_NB = np.zeros((0, BUCKETS + 1))
        self.learned: dict[str, object] = {}

    def fit(self, evidence: Evidence) -> None:
        if self.fixed is not None:
            self._take_fixed(evidence.counts.order)
            return
        if evidence.held_out is None or len(evidence.held_out) == 0:
            raise OptionError("jelinek_mercer.weights", None, "held-out text to learn them from",
                              "Give --valid or split.valid=0.1, or model.smoothing.weights=[0.9,…], one an order.")
        text = HeldOut.look_up(evidence)
        weights_NB = np.full((evidence.counts.order, BUCKETS + 1), 0.5)
        weights_NB[:, NEVER] = 0.0
        weights_NB, curve = self._climb(text, weights_NB)
        self.weights_NB = text.fill(weights_NB)
        readable = [_readable(*row) for row in zip(weights_NB, text.bucket_NT, strict=True)]
        self.learned = {"weights": readable, "held_out_tokens": text.bucket_NT.shape[1], "log_likelihood": curve}

    def _take_fixed(self, order: int) -> None:
        assert self.fixed is not None
        if len(self.fixed) != order:
            raise OptionError("jelinek_mercer.weights", self.fixed, f"{order} numbers, one an order")
        self.weights_NB = np.repeat(np.array(self.fixed)[:, None], BUCKETS + 1, axis=1)
        self.learned = {"weights": self.fixed}

    def _climb(self, text: HeldOut, weights_NB: np.ndarray) -> tuple[np.ndarray, list[float]]:
        """Rounds of expectation–maximization; the likelihood of the held-out text never falls from one to the next."""
        curve: list[float] = []
        for _ in range(self.rounds):
            better_NB, likelihood = text.step(weights_NB)
            curve.append(likelihood)
            if len(curve) > 1 and curve[-1] - curve[-2] < self.tolerance:
                return weights_NB, curve
            weights_NB = better_NB
        return weights_NB, [*curve, text.step(weights_NB)[1]]

    def share(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        weights = self.weights_NB[group.order - 1, bucket_of(group.totals)]
        return group.counts * group.spread(weights), group.totals


def _readable(weights_B: np.ndarray, buckets: np.ndarray) -> dict[str, float]:
    """λ by how often the context was seen, for the buckets that the held-out text visited."""
    visited = np.setdiff1d(buckets, [NEVER]).tolist()
    return {f"{2**b}–{2**(b + 1) - 1}" if b else "1": round(float(weights_B[b]), 6) for b in visited}
