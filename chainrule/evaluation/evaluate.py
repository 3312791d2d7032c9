"""How good a model is on a text: perplexity, bits per byte, and their confidence intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from chainrule.errors import OptionError
from chainrule.evaluation.resampling import drawn
from chainrule.evaluation.significance import DRAWS, studentized
from chainrule.evaluation.totals import Totals, Units
from chainrule.protocols import LanguageModel, Tokenizer

BIT = math.log(2)  # nats


def evaluate(model: LanguageModel, tokenizer: Tokenizer, encoded: Units, *, unit: str = "document",
             bootstrap: int = DRAWS, seed: int = 0, characters: int | None = None) -> dict[str, Any]:
    """Every metric of a model on an encoded text of so many characters.

    perplexity = exp(−1/T Σ_t ln p(w_t | w_<t)),   bits per byte = −Σ_t log₂ p(w_t | w_<t) / bytes of raw UTF-8
    T counts the end marks, which stand for the newlines. `interval` is from so many resamples (see `resampling`);
    `unit` is "line" where a unit of the text is one.
    """
    if model.vocabulary_size != tokenizer.vocabulary_size:
        raise OptionError("vocabulary_size", model.vocabulary_size, f"the tokenizer's {tokenizer.vocabulary_size}",
                          "The model was trained with another tokenizer.")
    groups = drawn(model, tokenizer, encoded, unit)
    total = groups.summed()
    return {
        "units": len(encoded.ends), **metrics(total),
        "bits_per_byte_comparable": encoded.lost == 0 and int(total.unknown) == 0,
        "bits_per_character": float(ratio(total.nll / BIT, characters)) if characters else None,
        "interval": intervals(groups, bootstrap, seed) if bootstrap else None,
    }


def metrics(total: Totals) -> dict[str, Any]:
    """The ratios of the totals; a text with an impossible token has infinite perplexity, one of only unknowns NaN."""
    return {
        "tokens": int(total.tokens), "unknown": int(total.unknown), "impossible": int(total.impossible),
        "bytes": round(float(total.bytes)), "nll": float(total.nll),
        "perplexity": float(exp(ratio(total.nll, total.tokens))),
        "perplexity_excluding_unknown": float(exp(ratio(total.known_nll, total.tokens - total.unknown))),
        "entropy": float(ratio(total.nll / BIT, total.tokens)),
        "bits_per_byte": float(ratio(total.nll / BIT, total.bytes)),
    }


def intervals(groups: Totals, draws: int, seed: int) -> dict[str, tuple[float, float]]:
    """95 % intervals of perplexity and bits per byte, both from those of a mean loss, which is never below zero.

    An interval of ln p gives one of p, since exp keeps the order. With an impossible token both ends are infinite.
    """
    if not np.isfinite(groups.nll).all():
        return {"perplexity": (math.inf, math.inf), "bits_per_byte": (math.inf, math.inf)}
    under_RC = np.stack([groups.tokens, groups.bytes], axis=1)  # the same resamples for both
    token, byte = studentized(np.repeat(groups.nll[:, None], 2, axis=1), under_RC, draws=draws, seed=seed)
    return {"perplexity": (float(exp(max(0.0, token.low))), float(exp(token.high))),
            "bits_per_byte": (max(0.0, byte.low) / BIT, byte.high / BIT)}


def ratio(over: Any, under: Any) -> Any:
    """Division, of numbers or arrays, that gives NaN for nothing over nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(over, under)


def exp(x: Any) -> Any:
    with np.errstate(over="ignore"):
        return np.exp(x)
