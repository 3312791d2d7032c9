"""Skip-gram: a word predicts each of the words around it."""

from __future__ import annotations

from typing import Literal

from chainrule.recipe.registry import part
from chainrule.vectors.methods._windows import WindowMethod, objective_of


@part
class SkipGram(WindowMethod):
    r"""Predicts the words around a word from the word: the vectors are those from which it is done best.

    max Σ_t Σ_{0<|j|≤b} ln p(w_{t+j} | w_t),   b drawn anew for each t from 1 to `window`
    Mikolov et al. 2013, arXiv:1301.3781 §3.2; negative sampling: arXiv:1310.4546 §2.2. Noise words are shared by the
    64 centers of a block, after Ji et al. 2016, arXiv:1604.04661, who share them within a window.
    """

    def __init__(self, *, loss: Literal["negative_sampling", "hierarchical_softmax", "softmax"] = "negative_sampling",
                 negative: int = 5, ns_exponent: float = 0.75) -> None:
        self.objective = objective_of(from_context=False, loss=loss, negative=negative, ns_exponent=ns_exponent,
                                      where="model.method")
