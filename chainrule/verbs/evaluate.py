"""`chainrule.evaluate`: how good a run is on a text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.protocols import LanguageModel
from chainrule.recipe.registry import find
from chainrule.runs import LoadedRun, opened


def evaluate(run: str | Path | LoadedRun, data: str | Path | Sequence[str | Path], *, by_order: bool = False,
             bootstrap: int = 10_000, seed: int = 0, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Perplexity, bits per byte and their 95 % intervals on a text; `by_order` adds the shorter contexts (Shannon).

    `overrides` change how this text is read: `["text.errors=replace"]`.
    """
    from chainrule.evaluation import by_order as orders
    from chainrule.evaluation.characters import characters
    from chainrule.evaluation.evaluate import evaluate as measure
    from chainrule.text.corpora import open_corpus
    from chainrule.text.encoded import encode
    from chainrule.text.units import unit_of

    loaded = opened(run)
    family: Any = find("families", loaded.recipe.family)
    if hasattr(family, "evaluate"):  # what is no language model is measured in its own way
        if by_order or (overrides and not getattr(family, "reads_text", False)):
            loaded.offering(LanguageModel, "--by-order" if by_order else overrides[0])
        return family.evaluate(loaded.reading_text_as(overrides), data)
    model, tokenizer = loaded.offering(LanguageModel, "evaluate"), loaded.tokenizer
    text = loaded.text_options(overrides)
    corpus = open_corpus(data, text)
    encoded = encode(corpus, tokenizer, text)
    found = measure(model, tokenizer, encoded, unit=unit_of(text, keeps_space=tokenizer.keeps_space),
                    bootstrap=bootstrap, seed=seed, characters=characters(corpus, encoded))
    if by_order:
        found["by_order"] = orders.by_order(model, tokenizer, encoded)
    return found
