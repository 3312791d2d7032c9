"""The best states of a sentence, and how likely each is: over all pairs of neighbors that its words allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from chainrule.counting.hidden_markov.transitions import Transitions

Allowed: TypeAlias = tuple[np.ndarray, np.ndarray]  # the states that a word may have (K,), and ln p(word | state)


def best(transitions: Transitions, words: Sequence[Allowed]) -> list[int]:
    r"""argmax over s₁…s_T of Π_t p(s_t | s_{t−2}, s_{t−1}) p(w_t | s_t) · p(end | s_{T−1}, s_T).

    δ_t(b, c) = max_a δ_{t−1}(a, b) p(c | a, b) p(w_t | c): Viterbi 1967, over pairs of states; of equals the first.
    """
    if not words:
        return []
    edge = _edge(transitions)
    before, last, delta, came = edge, edge, np.zeros((1, 1)), []
    for states, log_e in words:
        scores = delta[:, :, None] + transitions.after(before, last, states)
        came.append(scores.argmax(axis=0))
        delta = scores.max(axis=0) + log_e
        before, last = last, states
    delta = delta + transitions.after(before, last, edge)[:, :, 0]
    first, second = divmod(int(delta.argmax()), delta.shape[1])
    found = []
    for (states, _), origin in zip(reversed(words), reversed(came), strict=True):
        found.append(int(states[second]))
        first, second = int(origin[first, second]), first
    return found[::-1]


def posteriors(transitions: Transitions, words: Sequence[Allowed]) -> tuple[list[np.ndarray], float]:
    r"""For each word p(s_t | w₁…w_T) of the states that it may have; and ln p(w₁…w_T), summed over all of them.

    α_t(b, c) = p(w_t | c) Σ_a α_{t−1}(a, b) p(c | a, b), and β the same from the end: Rabiner 1989, §III, over pairs.
    """
    if not words:
        return [], 0.0
    edge = _edge(transitions)
    lists = [edge, edge, *(states for states, _ in words), edge]
    alphas, alpha = [], np.zeros((1, 1))
    for t, (_, log_e) in enumerate(words):
        alpha = _log_sum(alpha[:, :, None] + transitions.after(*lists[t:t + 3]), 0) + log_e
        alphas.append(alpha)
    beta = transitions.after(*lists[-3:])[:, :, 0]
    total = float(_log_sum((alpha + beta).ravel(), 0))
    found = []
    for t in reversed(range(len(words))):
        found.append(np.exp(alphas[t] + beta - total).sum(axis=0))
        beta = _log_sum(transitions.after(*lists[t:t + 3]) + (beta + words[t][1])[None], 2)
    return found[::-1], total


def _edge(transitions: Transitions) -> np.ndarray:
    return np.array([transitions.boundary])


def _log_sum(values: np.ndarray, axis: int) -> np.ndarray:
    """ln Σ e^v; all are finite."""
    top = values.max(axis=axis, keepdims=True)
    return np.log(np.exp(values - top).sum(axis=axis)) + np.squeeze(top, axis)
