"""CBOW: the words around a word predict it."""

from __future__ import annotations

from typing import Literal

from chainrule.recipe.registry import part
from chainrule.vectors.methods._windows import FOR_CBOW, WindowMethod, objective_of


@part
class Cbow(WindowMethod):
    r"""Predicts a word from the mean of the vectors of the words around it, whatever their order.

    max Σ_t ln p(w_t | h_t),   h_t = mean of v(w_{t+j}) over 0 < |j| ≤ b,   b drawn anew from 1 to `window`
    Mikolov et al. 2013, arXiv:1301.3781 §3.1. As in the word2vec program, each word of a window takes the whole change
    of the mean.
    """

    def __init__(self, *, loss: Literal["negative_sampling", "hierarchical_softmax", "softmax"] = "negative_sampling",
                 negative: int = 5, ns_exponent: float = 0.75) -> None:
        self.usual = FOR_CBOW
        self.objective = objective_of(from_context=True, loss=loss, negative=negative, ns_exponent=ns_exponent,
                                      where="model.method")
