"""Task2Vec: how alike several labeled data sets are, as one network would have to change for each of them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError, UsageError
from chainrule.figures.drawing import Figure
from chainrule.figures.heat import grid_map
from chainrule.figures.scatter import Points, scatter
from chainrule.inputs.texts import Texts, ids_of
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import build
from chainrule.runs import LoadedRun, opened

MOST = 400  # texts of each data set
PROBE, SECONDS = "lstm", 60  # a recipe, and how long it learns, where no probe is given
READING = "bag-classifier"  # whose way of reading labels is used


def task_map(data: Sequence[str | Path], probe: str | Path | LoadedRun | None = None, *, most: int = MOST,
             overrides: Sequence[str] = (), seed: int = 0) -> dict[str, Any]:
    """What `chainrule inspect --tasks A B C --json` prints: the distance of each pair of data sets, and a map of them.

    `probe` is a neural run that reads text; without one, a small language model of all their texts is trained first.
    """
    if len(data) < 2:
        raise UsageError(f"{len(data)} data sets, expected at least 2 to compare.")
    recipe = load_recipe(READING, overrides)
    sets = {str(name): _texts(name, recipe, most, seed) for name in data}
    with tempfile.TemporaryDirectory() as folder:
        run = opened(_trained(sets, Path(folder)) if probe is None else probe)
        found = [_embedded(run, texts, labels, seed) for texts, labels in sets.values()]
    from chainrule.models.inside.fisher import distance

    matrix = np.array([[distance(one, other) for other in found] for one in found])
    return {"probe": str(probe) if probe is not None else f"{PROBE}, {SECONDS} s on all texts", "tasks": list(sets),
            "texts": [len(texts) for texts, _ in sets.values()],
            "labels": [len(set(labels)) for _, labels in sets.values()], "distances": matrix.tolist(),
            "places": _places(matrix).tolist()}


def _texts(name: str | Path, recipe: Any, most: int, seed: int) -> tuple[list[bytes], list[str]]:
    """Some texts with their first labels."""
    from chainrule.inputs.labeled import labeled, layout_of

    task = build("tasks", recipe.task)
    every = list(labeled(task.open(str(name), recipe), layout_of(recipe)))
    if len({each.labels[0] for each in every}) < 2:
        raise DataError(f"{name}: one label, expected at least two.")
    order = np.random.default_rng(seed).permutation(len(every))[:most]
    return [every[n].text for n in order], [every[n].labels[0] for n in order]


def _trained(sets: Mapping[str, tuple[list[bytes], list[str]]], folder: Path) -> Path:
    from chainrule.verbs.train import train

    (folder / "texts.txt").write_bytes(b"".join(Texts(texts).text() for texts, _ in sets.values()))
    train(PROBE, folder / "texts.txt", folder / "probe", overrides=[f"training.budget.seconds={SECONDS}"])
    return folder / "probe"


def _embedded(run: LoadedRun, texts: Sequence[bytes], labels: Sequence[str], seed: int) -> np.ndarray:
    from chainrule.models.inside.fisher import embedded

    stack = getattr(run.model, "stack", None)
    if stack is None or run.tokenizer is None or not hasattr(stack, "sublayers"):
        raise UsageError(f"{run.path}: expected a neural run that reads text as a probe, such as that of lstm or "
                         "bert-small.")
    most, tokenizer = stack.shape.context, run.tokenizer
    arrays = [np.concatenate([[tokenizer.start], ids[:most - 1]]) for ids in ids_of(texts, tokenizer)]
    names = sorted(set(labels))
    return embedded(stack, arrays, np.array([names.index(label) for label in labels]), classes=len(names), seed=seed)


def _places(distances: np.ndarray) -> np.ndarray:
    """(N, 2): classical multidimensional scaling (Torgerson 1952)."""
    count = len(distances)
    centering = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centering @ np.square(distances) @ centering)
    order = np.argsort(values)[::-1][:2]
    found = vectors[:, order] * np.sqrt(np.maximum(values[order], 0))
    return found if found.shape[1] == 2 else np.pad(found, ((0, 0), (0, 2 - found.shape[1])))


def task_pictures(found: Mapping[str, Any]) -> list[Figure]:
    """The distances as a matrix, and the map."""
    names = [Path(name).stem or name for name in found["tasks"]]
    most = max(max(row) for row in found["distances"]) or 1.0
    return [grid_map("Distance of tasks", found["distances"], names, names, most=most),
            scatter("Tasks", "Near ones would change the same weights of the probe.", Points(
                found["places"], names, strong=range(len(names))))]
