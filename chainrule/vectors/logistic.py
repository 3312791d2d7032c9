"""Multinomial logistic regression by L-BFGS, to evaluate frozen vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MEMORY = 10  # pairs of steps and changes of the gradient that stand for the curvature
AT_ONCE = 200_000  # multiplications: so few that BLAS uses one thread; on a busy machine threads wait for each other
Loss = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Logistic:
    """p(c|x) ∝ exp(w_c · x + b_c)."""

    weights_CD: np.ndarray
    bias_C: np.ndarray

    def predict(self, x_BD: np.ndarray) -> np.ndarray:
        """(B,) the likeliest class."""
        return (x_BD @ self.weights_CD.T + self.bias_C).argmax(1)


def fit(x_BD: np.ndarray, y_B: np.ndarray, classes: int, *, l2: float, start: Logistic | None = None,
        tolerance: float = 1e-5) -> Logistic:
    """argmin −mean ln p(y|x) + l2/2 · Σ w², biases left free; `start` is where to begin, such as another l2's."""
    d, size = x_BD.shape[1], len(x_BD)
    step = max(64, AT_ONCE // (classes * (d + 1)))
    pieces = [(np.ascontiguousarray(np.column_stack([x_BD[low : low + step], np.ones(len(y_B[low : low + step]))]).T,
                                    np.float64), y_B[low : low + step]) for low in range(0, size, step)]
    free = np.append(np.ones(d), 0.0)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        w_CD = flat.reshape(classes, d + 1)
        kept = w_CD * free
        value, slope = l2 / 2 * float((kept**2).sum()), l2 * kept
        for x_DB, right_B in pieces:
            misses, slopes = _surprise(w_CD @ x_DB, right_B)
            value += misses / size
            slope += slopes @ x_DB.T / size
        return value, slope.ravel()

    begin = np.zeros((classes, d + 1)) if start is None else np.column_stack([start.weights_CD, start.bias_C])
    best = minimize(loss, begin.ravel(), tolerance=tolerance).reshape(classes, d + 1)
    return Logistic(best[:, :d], best[:, d])


def _surprise(score_CB: np.ndarray, right_B: np.ndarray) -> tuple[float, np.ndarray]:
    """Σ −ln p(right), and its slope in the scores: p − 1 where right, p elsewhere."""
    right = right_B, np.arange(len(right_B))
    score_CB -= score_CB.max(0)
    chosen = float(score_CB[right].sum())
    p_CB = np.exp(score_CB)
    total_B = p_CB.sum(0)
    p_CB /= total_B
    p_CB[right] -= 1
    return float(np.log(total_B).sum()) - chosen, p_CB


def minimize(loss: Loss, at: np.ndarray, *, tolerance: float, steps: int = 500) -> np.ndarray:
    """Where a smooth convex function has its least value: L-BFGS with steps halved until the value falls enough.

    Liu & Nocedal 1989, "On the limited memory BFGS method for large scale optimization".
    """
    value, slope = loss(at)
    moves: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(steps):
        if np.abs(slope).max() < tolerance:
            break
        direction = -_curved(slope, moves)
        fall, step = float(slope @ direction), 1.0
        while True:
            there = at + step * direction
            new_value, new_slope = loss(there)
            if new_value <= value + 1e-4 * step * fall or step < 1e-12:
                break
            step /= 2
        if new_value >= value:  # rounding is all that is left
            break
        move, change = there - at, new_slope - slope
        if move @ change > 1e-12:
            moves = [*moves[-MEMORY + 1 :], (move, change)]
        at, value, slope = there, new_value, new_slope
    return at


def _curved(slope: np.ndarray, moves: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The gradient times the inverse curvature that the last moves show: the two-loop recursion."""
    found, shares = slope.copy(), []
    for move, change in reversed(moves):
        share = (move @ found) / (move @ change)
        shares.append(share)
        found -= share * change
    if moves:
        move, change = moves[-1]
        found *= (move @ change) / (change @ change)
    else:
        found /= max(1.0, float(np.linalg.norm(slope)))
    for (move, change), share in zip(moves, reversed(shares), strict=True):
        found += move * (share - (change @ found) / (move @ change))
    return found
