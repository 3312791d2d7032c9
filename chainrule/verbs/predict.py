"""`chainrule.predict`: labels for texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chainrule.errors import UsageError
from chainrule.protocols import Classifier
from chainrule.runs import LoadedRun, opened


def predict(run: str | Path | LoadedRun, texts: Sequence[str], *, top: int = 1, threshold: float = 0.0
            ) -> list[list[tuple[str, float]]]:
    """For each text its `top` likeliest labels with their probabilities, likeliest first; none below `threshold`."""
    if isinstance(texts, str):
        raise UsageError("predict takes a list of texts, not one text: predict(run, [text]).")
    return opened(run).offering(Classifier, "predict").predict(texts, top=top, threshold=threshold)
