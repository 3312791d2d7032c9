"""What a captioner looked at: each image with its caption, and for each word where in the image the decoder looked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.figures.drawing import Figure
from chainrule.inspection.decision_pictures import under_maps
from chainrule.models.hearing import words_of
from chainrule.protocols import Translator
from chainrule.runs import LoadedRun, opened, task_of

SIDE = 118  # pixels of a picture's longer side: six in a row
DIGITS = 4


def explain_captions(run: str | Path | LoadedRun, files: Sequence[str], *, beams: int = 5) -> dict[str, Any]:
    """What `chainrule inspect CAPTIONER IMAGE --json` prints."""
    from chainrule.inputs.captioned import images_in

    loaded = opened(run)
    model, task = loaded.offering(Translator, "inspect"), task_of(loaded)
    values = images_in(files, task, loaded.recipe)
    best = model.translate(values, beams=beams)
    return {"run": str(loaded.path), "beams": beams, "pictures": [
        _looked_at(model, task, value, own[0].text) | {"log_prob": own[0].log_prob}
        for value, own in zip(values, best, strict=True)]}


def _looked_at(model: Any, task: Any, value: bytes, caption: str) -> dict[str, Any]:
    """`words` of the caption, each with a map of weights over places; null where the model looks at none by itself."""
    [array] = task.encoded_sources([value], model.known, 1 << 30)
    picture = task.modality.picture(array)
    found = {"file": os.fsdecode(value), "caption": caption, "height": picture.shape[0], "width": picture.shape[1],
             "pixels": picture.tolist()}
    aligned, embedding = model.align(value, caption), model.stack.source.embedding
    if aligned is None:
        return found | {"grid": None, "words": [{"word": word, "weights": None} for word in caption.split()]}
    ids = model.tokenizer.encode(caption)
    numbers = np.array(words_of([model.tokenizer.decode(ids[:n + 1]) for n in range(len(ids))]))
    places = aligned.weights[:len(ids), embedding.before:]
    maps = [places[numbers == n].mean(axis=0).reshape(embedding.grid) for n in range(len(caption.split()))]
    return found | {"grid": list(embedding.grid), "words": [
        {"word": word, "weights": np.round(own, DIGITS).tolist()}
        for word, own in zip(caption.split(), maps, strict=True)]}


def caption_figure(each: Mapping[str, Any]) -> Figure:
    """The picture, then for each word the same under the map of where the decoder looked when it wrote the word."""
    picture = np.asarray(each["pixels"], np.uint8)
    maps = [(own["word"], enlarged(np.asarray(own["weights"]), *picture.shape[:2])) for own in each["words"]
            if own["weights"] is not None]
    most = max((float(values.max()) for _, values in maps), default=1.0)
    return under_maps(f"{each['file']}: {each['caption']}", picture, maps, side=SIDE, most=most)


def enlarged(values: np.ndarray, height: int, width: int) -> np.ndarray:
    """(height, width): a map (h, w) with straight lines between the middles of its places."""
    for axis, size in ((0, height), (1, width)):
        middles = (np.arange(values.shape[axis]) + 0.5) * size / values.shape[axis]
        lines = [np.interp(np.arange(size) + 0.5, middles, line) for line in np.moveaxis(values, axis, -1)]
        values = np.moveaxis(np.stack(lines), -1, axis)
    return values
