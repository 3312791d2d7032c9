"""`chainrule.fill`: what may stand in the gaps of a text."""

from __future__ import annotations

from pathlib import Path

from chainrule.errors import OptionError
from chainrule.protocols import Filler
from chainrule.runs import LoadedRun, opened


def fill(run: str | Path | LoadedRun, text: str, *, top: int = 5) -> list[list[tuple[str, float]]]:
    """For each [MASK] in the text its `top` likeliest tokens with their probabilities, likeliest first."""
    if top < 1:
        raise OptionError("top", top, "at least 1")
    from chainrule.text.tokenizer import name_unseen_words

    loaded = opened(run)
    model = loaded.offering(Filler, "fill")
    name_unseen_words(loaded.tokenizer, text.replace("[MASK]", " "))
    return model.fill(text, top=top)
