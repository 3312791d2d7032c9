"""How alike the hidden states of two layers are, on the tokens of one passage."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.inspection.attention import first_row


def states(seen: Mapping[str, Sequence[Any]], model: str = "") -> dict[str, np.ndarray]:
    """The hidden states (T, D) of a model: `embedded`, then `sublayers.0`, … as they leave each sublayer."""
    if f"{model}embedded" not in seen:
        return {}
    numbered = {}
    for name, values in seen.items():
        if where := re.fullmatch(re.escape(model) + r"sublayers\.(\d+)/output", name):
            numbered[int(where[1])] = first_row(values)
    return {"embedded": first_row(seen[f"{model}embedded"])} | {f"sublayers.{n}": numbered[n] for n in sorted(numbered)}


def pairwise(layers: Sequence[np.ndarray], alike: Callable[[np.ndarray, np.ndarray], float]) -> np.ndarray:
    """(L, L): each layer with each other."""
    return np.array([[alike(x, y) for y in layers] for x in layers])


def cosine(x_TD: np.ndarray, y_TD: np.ndarray) -> float:
    """The mean over the tokens of cos(x_t, y_t): whether the vector of a token points the same way in both layers.

    Not a number where the layers have different widths.
    """
    if x_TD.shape != y_TD.shape:
        return float("nan")
    lengths_T = np.linalg.norm(x_TD, axis=1) * np.linalg.norm(y_TD, axis=1)
    return float((np.einsum("td,td->t", x_TD, y_TD) / np.maximum(lengths_T, 1e-30)).mean())


def linear_cka(x_TD: np.ndarray, y_TD: np.ndarray) -> float:
    r"""‖YᵀX‖² / (‖XᵀX‖ ‖YᵀY‖) of centered columns: 1 where one is a rotation of the other and a factor.

    Kornblith, Norouzi, Lee & Hinton 2019, arXiv:1905.00414, §3. With fewer tokens than numbers in a vector it is
    far above 0 even for vectors that have nothing to do with each other: see `unbiased_cka`.
    """
    x, y = x_TD - x_TD.mean(axis=0), y_TD - y_TD.mean(axis=0)
    between, own = np.linalg.norm(y.T @ x) ** 2, np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)
    return float(between / own) if own > 0 else float("nan")


def unbiased_cka(x_TD: np.ndarray, y_TD: np.ndarray) -> float:
    r"""The same ratio of unbiased estimates of HSIC: near 0 for independent vectors however few tokens there are.

    HSIC₁(K, L) = [tr(K̃L̃) + 1ᵀK̃1 1ᵀL̃1 / ((T−1)(T−2)) − 2/(T−2) 1ᵀK̃L̃1] / (T(T−3)),   K̃ = XXᵀ with 0 on its diagonal
    Song et al. 2012, JMLR 13, §2; Nguyen, Raghu & Kornblith 2021, arXiv:2010.15327, §2. From 4 tokens on.
    """
    if len(x_TD) < 4:
        return float("nan")
    k, l_ = _off_diagonal(x_TD), _off_diagonal(y_TD)
    own = _hsic(k, k) * _hsic(l_, l_)
    return float(_hsic(k, l_) / own**0.5) if own > 0 else float("nan")


def _off_diagonal(x_TD: np.ndarray) -> np.ndarray:
    gram_TT = x_TD @ x_TD.T
    np.fill_diagonal(gram_TT, 0.0)
    return gram_TT


def _hsic(k: np.ndarray, l_: np.ndarray) -> float:
    t = len(k)
    both = (k * l_).sum() + k.sum() * l_.sum() / ((t - 1) * (t - 2)) - 2 / (t - 2) * (k.sum(axis=0) @ l_.sum(axis=1))
    return float(both / (t * (t - 3)))
