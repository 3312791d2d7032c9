"""Shannon's game: how the uncertainty falls as the model may see more of what came before."""

from __future__ import annotations

from typing import Any

from chainrule.errors import UsageError
from chainrule.evaluation.evaluate import metrics
from chainrule.evaluation.totals import Units, unit_totals
from chainrule.protocols import LanguageModel, Shortenable, Tokenizer


def by_order(model: LanguageModel, tokenizer: Tokenizer, encoded: Units) -> list[dict[str, Any]]:
    """F_N = −E log₂ p(w_t | w_{t−N+1} … w_{t−1}) for each context length N − 1 from 0 to all that the model uses.

    Shannon 1951, "Prediction and entropy of printed English", eq. 1.
    """
    if not isinstance(model, Shortenable):
        raise UsageError("--by-order needs a model whose context can be shortened: an n-gram, or a mixture of n-grams. "
                         "This run's model has learned to use all that it reads. Try it on a run of `chainrule train "
                         "ngram`, or this run without --by-order.")
    rows = []
    for context in range(model.context + 1):
        found = metrics(unit_totals(model.shortened(context), tokenizer, encoded).summed())
        rows.append({"context": context, "perplexity": found["perplexity"], "entropy": found["entropy"],
                     "bits_per_byte": found["bits_per_byte"]})
    return rows
