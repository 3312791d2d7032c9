"""Calibration: one temperature that makes probabilities as large as the share of them that is right."""

from __future__ import annotations

import numpy as np

BOUNDS = (0.05, 20.0)
STEPS = 60


def fitted_temperature(log_p_RC: np.ndarray, labels_R: np.ndarray) -> float:
    """τ that minimizes −Σ_r ln softmax(ln p / τ)[label]: Guo et al. 2017, arXiv:1706.04599, §4.2.

    A golden-section search over ln τ: the loss has one minimum in 1/τ.
    """
    if not len(labels_R):
        return 1.0
    low, high = np.log(BOUNDS[0]), np.log(BOUNDS[1])
    ratio = (np.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    of_left, of_right = (_loss(log_p_RC, labels_R, np.exp(each)) for each in (left, right))
    for _ in range(STEPS):
        if of_left <= of_right:
            high, right, of_right = right, left, of_left
            left = high - ratio * (high - low)
            of_left = _loss(log_p_RC, labels_R, np.exp(left))
        else:
            low, left, of_left = left, right, of_right
            right = low + ratio * (high - low)
            of_right = _loss(log_p_RC, labels_R, np.exp(right))
    return float(np.exp((low + high) / 2))


def tempered(log_p_RC: np.ndarray, temperature: float) -> np.ndarray:
    """ln softmax(ln p / τ): the likeliest class stays the likeliest."""
    scores = log_p_RC.astype(np.float64) / temperature
    scores -= scores.max(axis=-1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


def calibration_error(p_R: np.ndarray, right_R: np.ndarray, bins: int = 15) -> float:
    """Σ_b (n_b / n) |mean p − share right| over bins of equal width: Guo et al. 2017, eq. 3."""
    if not len(p_R):
        return float("nan")
    place = np.clip(np.ceil(p_R * bins).astype(int) - 1, 0, bins - 1)
    count, sure, hits = (np.bincount(place, weights, bins) for weights in (None, p_R, right_R.astype(float)))
    return float(np.abs(sure - hits).sum() / count.sum())


def _loss(log_p_RC: np.ndarray, labels_R: np.ndarray, temperature: float) -> float:
    return float(-tempered(log_p_RC, temperature)[np.arange(len(labels_R)), labels_R].sum())
