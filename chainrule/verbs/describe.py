"""`chainrule.describe`: captions of images."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.errors import UsageError
from chainrule.protocols import Translator
from chainrule.runs import LoadedRun, opened, task_of
from chainrule.verbs.translate import translate


def describe(run: str | Path | LoadedRun, images: Sequence[str | Path], *, beams: int = 5, num: int = 1
             ) -> dict[str, list[Any]]:
    """For each image its `num` best captions, each with `text`, `log_prob` and `score`, by the image's name.

    `images` are files, folders of them, `photos.npy#7`, or tables with a column of them. One beam is greedy.
    """
    from chainrule.inputs.captioned import images_in

    if isinstance(images, str | Path):
        raise UsageError("describe takes a list of images, not one image: describe(run, [image]).")
    loaded = opened(run)
    loaded.offering(Translator, "describe")
    task = task_of(loaded)
    if not task.modality.whole:
        raise UsageError(f"{loaded.path} translates {task.modality.plural}; describe needs a run that was trained on "
                         "images with captions. Try translate.")
    values = images_in([str(each) for each in images], task, loaded.recipe)
    found = translate(loaded, values, beams=beams, num=num)
    return {os.fsdecode(value): own for value, own in zip(values, found, strict=True)}
