"""What an engine does: it runs trials, each of which is a file that says what to train, and says which failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chainrule.experiments.progress import TrialProgress
from chainrule.training.plan import Budget


@dataclass(frozen=True)
class Work:
    """One trial to run."""

    label: str  # as in `[1/3] lstm`
    folder: str  # its name among the trials
    task: Path  # what `chainrule.experiments.trial` reads
    budget: Budget

    @property
    def result(self) -> Path:
        """What it writes when it has finished."""
        return self.task.with_suffix("").with_suffix(".json")

    @property
    def log(self) -> Path:
        """What its process writes on standard error."""
        return self.task.with_suffix("").with_suffix(".log")


class Engine(Protocol):
    """Runs trials; an interruption stops all of them, after each has saved a checkpoint."""

    def run(self, works: Sequence[Work], progress: TrialProgress, lock: int) -> dict[str, str | None]:
        """Why each trial failed, by its folder; None where it did not. `lock` is a file that trials keep locked."""
        ...
