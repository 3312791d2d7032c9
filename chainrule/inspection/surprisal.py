"""Surprisal along a text: what the model predicted before each token, and how surprising the token was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chainrule.evaluation.scoring import unless_nan
from chainrule.protocols import LanguageModel

LN2 = float(np.log(2))


@dataclass(frozen=True)
class Expected:
    """The distribution before one token, in bits: the likeliest tokens, and the surprisal of the actual one."""

    id: int
    log_prob: float  # ln p of the actual token; −∞ if the model gave it probability 0
    entropy: float  # bits: Σ_w −p(w) log₂ p(w), the surprisal that the model itself expected
    rank: int  # how many tokens were at least as likely, this one included
    top: tuple[tuple[int, float], ...]  # the likeliest tokens and their probabilities

    @property
    def surprisal(self) -> float:
        """−log₂ p(w_t | w_<t), bits. Shannon 1948; Hale 2001."""
        return -self.log_prob / LN2 if self.log_prob else 0.0


def along(model: LanguageModel, unit: np.ndarray, *, top: int = 5) -> Iterator[Expected]:
    """One unit token by token, by the protocol that every family satisfies."""
    state = model.start(1)
    for number, id in enumerate(unit.tolist()):
        if number:
            state = model.advance(state, unit[number - 1:number])
        yield expected(np.asarray(unless_nan(model.log_probs(state))[0], np.float64), id, top)


def expected(log_p_V: np.ndarray, id: int, top: int) -> Expected:
    """One row of ln p, and the token that came; of equally likely tokens those with the lowest ids are shown."""
    top = min(top, len(log_p_V))
    least = np.partition(log_p_V, -top)[-top]  # all above it are among the best; a whole sort would cost V log V
    near = np.flatnonzero(log_p_V >= least)
    best = near[np.argsort(-log_p_V[near], kind="stable")[:top]]
    p_V = np.exp(log_p_V)
    possible = p_V > 0
    entropy = -float((p_V[possible] * log_p_V[possible]).sum()) / LN2
    likeliest = tuple((int(w), float(p_V[w])) for w in best if possible[w])
    return Expected(id, float(log_p_V[id]), max(entropy, 0.0), int((log_p_V >= log_p_V[id]).sum()), likeliest)
