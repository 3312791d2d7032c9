"""What a family trains on, and what it returns."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainrule.protocols import Tokenizer
    from chainrule.recipe.recipe import Recipe
    from chainrule.starting import Start

steps = logging.getLogger("chainrule.steps")  # at level DEBUG: the name of each step as it begins


@dataclass(frozen=True)
class Job:
    """What a family trains on."""

    recipe: Recipe
    corpus: Any  # what the task opened: a text corpus, pairs, images …; None if the family trains on counts
    valid: Any
    folder: Path  # where large temporary files may lie
    seconds: dict[str, float] = field(default_factory=dict)  # how long each step took, for the report
    began: float = field(default_factory=time.perf_counter)
    out: Path | None = None  # the run folder to make; a family that trains for long keeps its checkpoints beside it
    force: bool = False  # checkpoints with different settings may be discarded
    show: Callable[[Mapping[str, Any]], None] | None = None  # called with the progress of training
    start: Start | None = None  # the finished run that training starts from

    def timed(self, step: str) -> _Timer:
        """`with job.timed("counting"): …`"""
        return _Timer(self.seconds, step)


@dataclass(frozen=True)
class Trained:
    """What a family returns; `write(folder)` adds the model's files to the run."""

    tokenizer: Tokenizer | None
    model: Any  # the protocols define what it can do
    write: Callable[[Path], None]
    report: dict[str, Any]
    metrics: Iterable[Mapping[str, Any]] = ()
    recipe: Recipe | None = None  # the recipe with the values that training chose for options left open
    saved: Callable[[], None] = lambda: None  # called when the run is on the disk: checkpoints may be removed
    leads: bool = True  # of several processes that trained it together one saves it

    def led_by(self, leads: bool) -> Trained:
        """The same for a process that saves it, or for one that does not."""
        return replace(self, leads=leads)


def existing_parent(out: Path) -> Path:
    """The nearest folder above a run that is there already: temporary files lie on the same disk."""
    parent = out.absolute().parent
    while not parent.is_dir():
        parent = parent.parent
    return parent


class _Timer:
    def __init__(self, seconds: dict[str, float], step: str):
        self.seconds, self.step = seconds, step

    def __enter__(self) -> None:
        steps.debug(self.step)
        self.began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.step] = self.seconds.get(self.step, 0.0) + time.perf_counter() - self.began


def learns_from_validation(recipe: Any) -> bool:
    """Jelinek-Mercer weights, those of a mixture with an earlier run, early stopping, and plateau schedules."""
    training = getattr(recipe, "training", None)
    if training is not None:
        schedule = getattr(training, "schedule", None) or {}
        return getattr(training, "patience", None) is not None or schedule.get("name") == "plateau"
    smoothing = getattr(recipe.model, "smoothing", None)
    return smoothing is not None and (smoothing["name"] == "jelinek_mercer" or recipe.start_from is not None)
