"""`chainrule.evaluate`: how good a run is on a text, by the measures of its task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.evaluation.options import Measuring
from chainrule.protocols import Classifier, LanguageModel, Translator
from chainrule.recipe.registry import build
from chainrule.runs import LoadedRun, opened


def evaluate(run: str | Path | LoadedRun, data: str | Path | Sequence[str | Path], *, by_order: bool = False,
             bootstrap: int = 10_000, seed: int = 0, overrides: Sequence[str] = (),
             threshold: float | str | None = None, target: Any = None, beams: int | None = None) -> dict[str, Any]:
    """Perplexity, bits per byte and their 95 % intervals on a text; `by_order` adds the shorter contexts (Shannon).

    A run with another task is measured by its own measures. `overrides` change how this text is read:
    `["text.errors=replace"]`. With `threshold`, a probability or "auto", a classifier rejects texts that it is less
    sure of, and the figures say how many. `target` names what belongs to `data`, such as reference translations, which
    are written with so many `beams`.
    """
    loaded = opened(run)
    task = build("tasks", loaded.recipe.task)
    if by_order or (overrides and not task.reads_text):
        loaded.offering(LanguageModel, "--by-order" if by_order else overrides[0])
    if target is not None:
        task.open(data, loaded.recipe, target)  # refuses it where the task has no targets
    if threshold is not None:
        loaded.offering(Classifier, "--threshold")
    if beams is not None:
        loaded.offering(Translator, "--beams")
    return task.evaluate(loaded.reading_text_as(overrides), data,
                         Measuring(bootstrap, seed, by_order, beams=beams, target=target, threshold=threshold))
