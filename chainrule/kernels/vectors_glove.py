"""GloVe's weighted least squares by AdaGrad, without the GIL; equals chainrule.vectors.methods.glove.step_plainly."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath=True)
def descend(order, rows, columns, weights, logs, words, contexts, word_squares, context_squares, alpha):
    """Entries in the order given; a bias is the last column. Gives the sum of f (w · c + b + b' − ln x)² / 2."""
    width, cost = words.shape[1] - 1, 0.0
    for e in order:
        cost += entry(rows[e], columns[e], weights[e], logs[e], words, contexts, word_squares, context_squares, alpha,
                      width)
        if rows[e] != columns[e]:
            cost += entry(columns[e], rows[e], weights[e], logs[e], words, contexts, word_squares, context_squares,
                          alpha, width)
    return cost


@njit(cache=True, nogil=True, fastmath=True)
def entry(i, j, weight, log, words, contexts, word_squares, context_squares, alpha, width):
    """One step: each number moves by α g / √(1 + Σ of its earlier g²)."""
    difference = words[i, width] + contexts[j, width] - log
    for d in range(width):
        difference += words[i, d] * contexts[j, d]
    pull = weight * difference
    for d in range(width):
        for_word, for_context = pull * contexts[j, d], pull * words[i, d]
        words[i, d] -= alpha * for_word / np.sqrt(word_squares[i, d])
        contexts[j, d] -= alpha * for_context / np.sqrt(context_squares[j, d])
        word_squares[i, d] += for_word * for_word
        context_squares[j, d] += for_context * for_context
    words[i, width] -= alpha * pull / np.sqrt(word_squares[i, width])
    contexts[j, width] -= alpha * pull / np.sqrt(context_squares[j, width])
    word_squares[i, width] += pull * pull
    context_squares[j, width] += pull * pull
    return np.float64(0.5) * pull * difference
