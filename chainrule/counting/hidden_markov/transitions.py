"""How likely a tag is after others: frequencies of one, two and three tags, interpolated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.counting.hidden_markov.counts import TagCounts
from chainrule.errors import OptionError

UNSEEN = 1e-3  # how often a state counts that never occurs, so that no sentence is impossible
MOST = 1 << 27  # numbers in the table


@dataclass(frozen=True)
class Transitions:
    """ln p(state | the two before it) is `log_p_RS[row_SS[first, second]]`; the boundary is the last state."""

    log_p_RS: np.ndarray
    row_SS: np.ndarray
    log_p_S: np.ndarray  # of a state by itself
    weights: tuple[float, ...]  # λ of one state, two, three

    @property
    def boundary(self) -> int:
        return len(self.log_p_S) - 1

    def after(self, first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
        """(first, second, third): ln p of every third state after every pair."""
        return self.log_p_RS[self.row_SS[first[:, None], second][:, :, None], third]


def interpolated(counts: TagCounts, order: int, weights: Sequence[float] | None = None) -> Transitions:
    r"""p(c | a, b) = λ₁ f(c)/N + λ₂ f(b, c)/f(b) + λ₃ f(a, b, c)/f(a, b)

    Brants 2000, "TnT", eq. 2–6. Without weights, λ are found by deleted interpolation (his figure 1): every trigram
    votes, as often as it occurs, for the length that would predict it best if it were left out once. Departures: each λ
    has one vote more; what never occurs counts `UNSEEN`; after a context that never occurs, shorter ones share its λ.
    """
    size = counts.states + 1
    a, b, c = counts.trigrams_R3.T
    f_abc = counts.trigram_counts.astype(np.float64)
    f_c = np.bincount(c, f_abc, size)
    f_bc = np.bincount(b * np.int64(size) + c, f_abc, size * size).reshape(size, size)
    f_b = f_bc.sum(axis=1)
    pairs, pair_of_R = np.unique(a * np.int64(size) + b, return_inverse=True)
    f_ab = np.bincount(pair_of_R, f_abc, len(pairs))
    found = np.array(weights, np.float64) if weights is not None else _votes(np.stack([
        _left_out(f_c[c], f_c.sum()), _left_out(f_bc[b, c], f_b[b]), _left_out(f_abc, f_ab[pair_of_R])])[:order], f_abc)
    found = found / found.sum()
    one_S = (f_c + UNSEEN) / (f_c.sum() + UNSEEN * size)
    rows = np.tile(one_S, (size, 1)) if order == 1 else np.where(
        f_b[:, None] > 0, _mixed(found[:2], one_S, f_bc / np.maximum(f_b, 1)[:, None]), one_S)
    row_SS = np.tile(np.arange(size, dtype=np.int32), (size, 1))
    if order == 3:
        if (size + len(pairs)) * size > MOST:
            raise OptionError("model.order", order, "2", f"{len(counts.tags):,} tags are too many for three in a row.")
        three = np.zeros((len(pairs), size))
        three[pair_of_R, c] = f_abc / f_ab[pair_of_R]
        row_SS[pairs // size, pairs % size] = size + np.arange(len(pairs))
        rows = np.concatenate([rows, found[:2].sum() * rows[pairs % size] + found[2] * three])
    return Transitions(np.log(rows), row_SS, np.log(one_S), tuple(found.tolist()))


def _left_out(part: np.ndarray, whole: np.ndarray | float) -> np.ndarray:
    """The frequency of each if it had occurred once less; 0 of nothing."""
    return np.divide(part - 1, whole - 1.0, out=np.zeros(len(part)), where=np.broadcast_to(whole > 1, part.shape))


def _votes(predictions_NR: np.ndarray, counts_R: np.ndarray) -> np.ndarray:
    return 1 + np.bincount(predictions_NR.argmax(axis=0), counts_R, len(predictions_NR))


def _mixed(weights: np.ndarray, one_S: np.ndarray, two_SS: np.ndarray) -> np.ndarray:
    return (weights[0] * one_S + weights[1] * two_SS) / weights.sum()
