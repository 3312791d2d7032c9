"""A static mixture of language models that share a vocabulary, and EM for its weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chainrule.arrays import namespace, to_numpy
from chainrule.errors import OptionError
from chainrule.protocols import Array, LanguageModel, Shortenable
from chainrule.watching import note, placed


class Mixture:
    """p(w|h) = Σ_m λ_m p_m(w|h); its state is the members' states.

    Jelinek & Mercer 1980, "Interpolated estimation of Markov source parameters from sparse data".
    """

    def __init__(self, models: Sequence[LanguageModel], weights: Sequence[float]):
        sizes = sorted({model.vocabulary_size for model in models})
        if len(sizes) != 1:
            raise OptionError("Mixture.models", sizes, "models that share one vocabulary size")
        if len(weights) != len(models) or not min(weights) >= 0 or not abs(sum(weights) - 1) <= 1e-6:
            raise OptionError("Mixture.weights", list(map(float, weights)), f"{len(models)} weights that sum to 1")
        self.models, self.weights = tuple(models), tuple(float(weight) / float(sum(weights)) for weight in weights)
        self.vocabulary_size = sizes[0]
        bounded = [model.context for model in models if isinstance(model, Shortenable)]
        if len(bounded) == len(models):  # only then is the mixture Shortenable too
            self.context = max(bounded)

    def start(self, batch: int) -> tuple[Any, ...]:
        return tuple(model.start(batch) for model in self.models)

    def log_probs(self, state: tuple[Any, ...]) -> Array:
        return self._mixed([model.log_probs(own) for model, own in zip(self.models, state, strict=True)])

    def advance(self, state: tuple[Any, ...], ids: Array) -> tuple[Any, ...]:
        ids = to_numpy(ids)
        return tuple(model.advance(own, ids) for model, own in zip(self.models, state, strict=True))

    def pick(self, state: tuple[Any, ...], rows: Array) -> tuple[Any, ...]:
        rows = to_numpy(rows)
        return tuple(model.pick(own, rows) for model, own in zip(self.models, state, strict=True))

    def join(self, states: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        """The rows of several states as one batch."""
        members: list[Any] = list(self.models)
        return tuple(model.join(own) for model, own in zip(members, zip(*states, strict=True), strict=True))

    def score(self, ids: Array) -> Array:
        ids = to_numpy(ids)
        scores = [placed(f"members.{m}", model.score, ids) for m, model in enumerate(self.models)]
        note("members", (self.weights, scores))
        return self._mixed(scores)

    def _mixed(self, log_p: Sequence[Array]) -> Array:
        """In the members' own arrays where all are of one kind, otherwise in NumPy."""
        alike = len({namespace(values) for values in log_p}) == 1
        return mixed(log_p if alike else [to_numpy(values) for values in log_p], self.weights)

    def shortened(self, context: int) -> Mixture:
        """The same mixture with shortened members."""
        able = [model for model in self.models if isinstance(model, Shortenable)]
        return Mixture([model.shortened(min(context, model.context)) for model in able], self.weights)


def mixed(log_p: Sequence[Array], weights: Sequence[float]) -> Array:
    """ln Σ_m λ_m exp(log_p_m), elementwise; a member of weight 0 is ignored, even if it is −∞."""
    xp = namespace(log_p[0])
    heard = [(values, weight) for values, weight in zip(log_p, weights, strict=True) if weight > 0]
    top = heard[0][0]
    for values, _ in heard[1:]:
        top = xp.maximum(top, values)
    top = xp.where(top == -xp.inf, 0.0, top)
    total = sum(weight * xp.exp(values - top) for values, weight in heard)
    with np.errstate(divide="ignore"):
        return xp.log(total) + top


def fit_weights(scores_MT: np.ndarray, *, tolerance: float = 1e-6, iterations: int = 1000) -> np.ndarray:
    """(M,): the weights that make held-out text likeliest, from each member's ln p of each of its tokens.

    Ends when an iteration gains less than `tolerance` nats a token. Tokens that no member thinks possible are left out.
    """
    scores_MT = np.asarray(scores_MT, dtype=np.float64)
    if scores_MT.ndim != 2 or 0 in scores_MT.shape:
        raise OptionError("fit_weights.scores", scores_MT.shape, "(members, tokens), neither of them 0")
    if np.isnan(scores_MT).any():
        raise OptionError("fit_weights.scores", float("nan"), "log-probabilities")
    weights = np.full(len(scores_MT), 1 / len(scores_MT))
    before = -np.inf
    for step, (better, log_likelihood) in enumerate(expectation_maximization(scores_MT, weights)):
        weights = better
        if step + 1 >= iterations or log_likelihood - before < tolerance:
            break
        before = log_likelihood
    return weights


def expectation_maximization(scores_MT: np.ndarray, weights_M: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Yields better weights without end, each with the mean ln p per token of the weights before, which never falls.

    λ_m ← 1/T Σ_t λ_m p_m(w_t) / Σ_k λ_k p_k(w_t);  Dempster, Laird & Rubin 1977.
    """
    top_T = scores_MT.max(axis=0)
    possible_T = top_T > -np.inf
    if not possible_T.any():
        raise OptionError("fit_weights.scores", -np.inf, "at least one token with a probability above 0")
    top_T = top_T[possible_T]
    p_MT = np.exp(scores_MT[:, possible_T] - top_T)
    while True:
        p_T = weights_M @ p_MT
        weights_M = weights_M * (p_MT @ (1 / p_T)) / len(p_T)
        yield weights_M, float(np.log(p_T).mean() + top_T.mean())
