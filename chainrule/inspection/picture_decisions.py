"""Why a classifier gave a picture its label: which pixels decided, and where attention looked."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import UsageError
from chainrule.inspection.attention import plain_array
from chainrule.inspection.rollout import rollout
from chainrule.protocols import Classifier
from chainrule.runs import LoadedRun, opened, task_of
from chainrule.watching import Seen, watch

SQUARES = 7  # along the longer side, which are covered one by one
DIGITS = 4


def explain_pictures(run: str | Path | LoadedRun, files: Sequence[str], *, top: int = 5) -> dict[str, Any]:
    """What `chainrule inspect CLASSIFIER IMAGE --json` prints: for each picture its labels, and what decided."""
    from chainrule.inputs.files import open_files

    loaded = opened(run)
    model, modality = loaded.offering(Classifier, "inspect"), task_of(loaded).modality
    rows = open_files(files, loaded.recipe, modality, need_labels=False).rows if files else ()
    return {"run": str(loaded.path), "family": loaded.recipe.family, "labels": len(model.labels),
            "pictures": [picture_decision(model, each.text, top=top) for each in rows]}


def picture_decision(model: Any, value: bytes, *, top: int = 5) -> dict[str, Any]:
    """One picture: `top` labels, and maps of what speaks for the first rather than the second.

    `gradient_times_input`, a number a pixel: Σ over channels of x ∂/∂x [ln p(label) − ln p(runner-up)], x = 0 being the
    mean of training (Shrikumar et al. 2016, arXiv:1605.01713). `covered`, a number for each square: how much of that
    difference is lost where the square is covered by the mean (Zeiler & Fergus 2014, arXiv:1311.2901, §4.2).
    """
    array = model.encoded([value])[0]
    picture = model.modality.picture(array)
    if picture is None:
        raise UsageError(f"{os.fsdecode(value)}: {model.modality.plural} are not shown as pictures, expected images.")
    inputs, _ = model.sent([array])
    logs = model.log_probabilities([value])[0].astype(np.float64)
    best = np.argsort(-logs, kind="stable")
    pair = int(best[0]), int(best[1]) if len(best) > 1 else int(best[0])
    gradient, seen = _gradient(model, inputs, pair)
    found = {"file": os.fsdecode(value), "label": model.labels[pair[0]],
             "runner_up": model.labels[pair[1]] if len(best) > 1 else None,
             "labels": [{"label": model.labels[n], "probability": float(np.exp(logs[n]))} for n in best[:top]],
             "margin": float(logs[pair[0]] - logs[pair[1]]), "height": picture.shape[0], "width": picture.shape[1],
             "pixels": picture.tolist(), "gradient_times_input": _rounded(gradient),
             "covered": _rounded(_covered(model, inputs, pair))}
    return found | {"attention": _attention(model.stack.embedding, seen)}


def _gradient(model: Any, inputs: Any, pair: tuple[int, int]) -> tuple[np.ndarray, Seen]:
    """(H, W), and what was recorded while the picture was read."""
    given = inputs.detach().clone().requires_grad_()
    with watch() as seen:
        difference = _difference(model, given, pair)
    difference.sum().backward()
    assert given.grad is not None
    product = plain_array((given.grad * given)[0])
    model.stack.zero_grad(set_to_none=True)
    return product.sum(axis=-1) if product.ndim == 3 else product, seen


def _covered(model: Any, inputs: Any, pair: tuple[int, int]) -> np.ndarray:
    """(rows, columns) of squares."""
    import torch

    height, width = inputs.shape[1:3]
    side = max(1, -(-max(height, width) // SQUARES))
    down, along = -(-height // side), -(-width // side)
    rows = [inputs[0]]
    for n in range(down * along):
        top, left = side * (n // along), side * (n % along)
        other = inputs[0].clone()
        other[top:top + side, left:left + side] = 0
        rows.append(other)
    with torch.inference_mode():
        found = plain_array(_difference(model, torch.stack(rows), pair))
    return (found[0] - found[1:]).reshape(down, along)


def _difference(model: Any, inputs: Any, pair: tuple[int, int]) -> Any:
    """(B,): ln p(label) − ln p(runner-up), by the temperature that the model's probabilities have."""
    log_p = model.stack.head.log_probs(model.stack.eval().summary(inputs))
    return (log_p[:, pair[0]] - log_p[:, pair[1]]) / model.temperature


def _attention(embedding: Any, seen: Seen) -> list[dict[str, Any]]:
    """A map over the places of the picture for each layer: of the class token, else the mean of all places."""
    grid, before = getattr(embedding, "grid", None), getattr(embedding, "before", 0)
    layers = {int(where[1]): plain_array(values[0][0]) for name, values in seen.items()
              if (where := re.fullmatch(r"sublayers\.(\d+)/attention", name))}
    if grid is None or not layers:
        return []
    numbers = sorted(layers)
    maps = {f"sublayer {n}": layers[n].mean(axis=0) for n in numbers}  # over the heads
    maps["rollout"] = rollout([layers[n] for n in numbers])[-1]
    return [{"name": name, "by": "class token" if before else "all places",
             "weights": _rounded((each[0] if before else each.mean(axis=0))[before:].reshape(grid))}
            for name, each in maps.items()]


def _rounded(values: np.ndarray) -> list[list[float]]:
    most = float(np.abs(values).max()) or 1.0
    return np.round(values, max(0, DIGITS - int(np.floor(np.log10(most))))).tolist()
