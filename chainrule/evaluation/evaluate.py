"""How good a model is on a text: perplexity, bits per byte, and how sure we are of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from chainrule.errors import OptionError
from chainrule.evaluation.significance import percentile_interval, resampled_sums
from chainrule.evaluation.totals import Totals, Units, block_totals, unit_totals
from chainrule.protocols import LanguageModel, Tokenizer

FEW_UNITS = 30  # below this many, the bootstrap draws blocks of tokens
BLOCK = 256  # tokens, or fewer where the text is so short that there would be few blocks
BIT = math.log(2)  # nats


def evaluate(model: LanguageModel, tokenizer: Tokenizer, encoded: Units, *, bootstrap: int = 1000, seed: int = 0,
             characters: int | None = None) -> dict[str, Any]:
    """Every metric of a model on an encoded text of so many characters.

    perplexity = exp(−1/T Σ_t ln p(w_t | w_<t)),   bits per byte = −Σ_t log₂ p(w_t | w_<t) / bytes of raw UTF-8
    T counts the end marks, which stand for the newlines. `interval` is the middle 95 % of `bootstrap` resamples.
    """
    if model.vocabulary_size != tokenizer.vocabulary_size:
        raise OptionError("vocabulary_size", model.vocabulary_size, f"the tokenizer's {tokenizer.vocabulary_size}",
                          "The model was trained with another tokenizer.")
    units = len(encoded.ends)
    groups = (unit_totals(model, tokenizer, encoded) if units >= FEW_UNITS
              else block_totals(model, tokenizer, encoded, max(1, min(BLOCK, len(encoded.ids) // FEW_UNITS))))
    total = groups.summed()
    return {
        "units": units, **metrics(total),
        "bits_per_byte_comparable": encoded.lost == 0 and int(total.unknown) == 0,
        "bits_per_character": float(ratio(total.nll / BIT, characters)) if characters else None,
        "interval": intervals(groups, bootstrap, seed) if bootstrap else None,
    }


def metrics(total: Totals) -> dict[str, Any]:
    """The ratios of the totals; a text with an impossible token has infinite perplexity, one of only unknowns none."""
    return {
        "tokens": int(total.tokens), "unknown": int(total.unknown), "impossible": int(total.impossible),
        "bytes": round(float(total.bytes)), "nll": float(total.nll),
        "perplexity": float(exp(ratio(total.nll, total.tokens))),
        "perplexity_excluding_unknown": float(exp(ratio(total.known_nll, total.tokens - total.unknown))),
        "entropy": float(ratio(total.nll / BIT, total.tokens)),
        "bits_per_byte": float(ratio(total.nll / BIT, total.bytes)),
    }


def intervals(groups: Totals, draws: int, seed: int) -> dict[str, tuple[float, float]]:
    """95 % bootstrap intervals of perplexity and bits per byte, from the same resamples."""
    columns = np.stack([groups.nll, groups.tokens, groups.bytes], axis=1)
    nll, tokens, bytes_ = resampled_sums(columns, draws=draws, seed=seed).T
    return {"perplexity": percentile_interval(exp(ratio(nll, tokens))),
            "bits_per_byte": percentile_interval(ratio(nll / BIT, bytes_))}


def ratio(over: Any, under: Any) -> Any:
    """Division, of numbers or arrays, that gives NaN for nothing over nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(over, under)


def exp(x: Any) -> Any:
    with np.errstate(over="ignore"):
        return np.exp(x)
