"""`chainrule.predict`: labels for texts, or for files such as images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chainrule.errors import UsageError
from chainrule.protocols import Classifier
from chainrule.runs import LoadedRun, opened, task_of


def predict(run: str | Path | LoadedRun, texts: Sequence[str], *, top: int = 1, threshold: float | str = 0.0
            ) -> list[list[tuple[str, float]]]:
    """For each text its `top` likeliest labels with their probabilities, likeliest first; none below `threshold`.

    `threshold="auto"` is the one that was calibrated on validation texts when the run was trained: a text with no label
    is then likely out of scope. Where a run classifies files, such as images, `texts` are files, folders or tables, and
    each file has its labels.
    """
    from chainrule.classifying.measuring import threshold_of
    from chainrule.inputs.files import open_files

    if isinstance(texts, str):
        raise UsageError("predict takes a list of texts, not one text: predict(run, [text]).")
    loaded = opened(run)
    model = loaded.offering(Classifier, "predict")
    modality, inputs = task_of(loaded).modality, list[str | bytes](texts)
    if modality.endings:
        inputs = [each.text for each in open_files(texts, loaded.recipe, modality, need_labels=False).rows]
    return model.predict(inputs, top=top, threshold=threshold_of(loaded, threshold))
