"""`chainrule.predict`: labels for texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chainrule.errors import UsageError
from chainrule.protocols import Classifier
from chainrule.runs import LoadedRun, opened


def predict(run: str | Path | LoadedRun, texts: Sequence[str], *, top: int = 1, threshold: float | str = 0.0
            ) -> list[list[tuple[str, float]]]:
    """For each text its `top` likeliest labels with their probabilities, likeliest first; none below `threshold`.

    `threshold="auto"` is the one that was calibrated on validation texts when the run was trained: a text with no label
    is then likely out of scope.
    """
    from chainrule.classifying.measuring import threshold_of

    if isinstance(texts, str):
        raise UsageError("predict takes a list of texts, not one text: predict(run, [text]).")
    loaded = opened(run)
    model = loaded.offering(Classifier, "predict")
    return model.predict(texts, top=top, threshold=threshold_of(loaded, threshold))
