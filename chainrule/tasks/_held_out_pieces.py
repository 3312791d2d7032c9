"""Models of music on the same held-out pieces: what `compare` ranks them by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.evaluation.ranking import Answers, Column
from chainrule.inputs.music import roll_of
from chainrule.inputs.pieces import with_parts
from chainrule.recipe.registry import build
from chainrule.runs import task_of

FREQUENCIES, BEFORE = "frequencies of keys", "each key by the frame before"


class HeldOutPieces:
    """Frame NLL of whole pieces; beside it, nats of a piece. Rolls and events are judged alike.

    A model of events gives a piece at most the probability of its frames: it also says which keys are struck again.
    """

    units = "pieces"
    beside: Mapping[str, Column] = {"nats": Column("nats per piece", 1)}
    notes: Sequence[str] = ()

    def __init__(self, task: Any, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, fraction: float,
                 seed: int):
        self.task, self.seed, self.split = task, seed, fraction
        whole: Any = task.open(list(data), recipe)
        self.train, usual = with_parts(whole, None)
        if valid is not None:
            self.held_out, self.split = task.open(list(valid), recipe), 0.0
        elif usual is not None:
            self.held_out, self.split = usual, 0.0
            self.notes = (f"held out is {usual.name}, the part of the data that is for validation.",)
        else:
            self.train, self.held_out = task.split(whole, fraction, seed)
        self.measure = build("evaluation/measures", "frame_nll")
        self.counts = len(self.train.pieces), len(self.held_out.pieces)
        if not all(self.counts):
            raise DataError(f"{', '.join(data)}: {self.counts[0]} pieces to learn from and {self.counts[1]} held out, "
                            "expected some of each. Give more pieces, or name the held-out ones with --valid FILE.")

    def for_validation(self) -> tuple[Any, Any]:
        return self.task.split(self.train, 0.1, self.seed + 1)

    def answers(self, run: Any) -> Answers:
        return _of(task_of(run).answered(run, self.held_out.pieces))

    def baselines(self) -> dict[str, Answers]:
        """How often each key sounds in training, and the same after it sounded or not; each seen once more."""
        train, held = ([roll_of(piece) for piece in each.pieces] for each in (self.train, self.held_out))
        frames = np.concatenate(train)
        p_K = (frames.sum(axis=0, dtype=np.float64) + 1) / (len(frames) + 2)
        now = np.concatenate([roll[1:] for roll in train])
        before = np.concatenate([roll[:-1] for roll in train])
        p_2K = np.stack([((now * (before == was)).sum(axis=0, dtype=np.float64) + 1)
                         / ((before == was).sum(axis=0) + 2) for was in (0, 1)])
        after = [np.concatenate([p_K[None], np.where(roll[:-1] > 0, p_2K[1], p_2K[0])]) for roll in held]
        chances = {FREQUENCIES: [np.broadcast_to(p_K, roll.shape) for roll in held], BEFORE: after}
        return {name: _of(np.array([(_nats(p, roll), len(roll)) for p, roll in zip(each, held, strict=True)]))
                for name, each in chances.items()}

    def facts(self) -> dict[str, Any]:
        return {"train_pieces": self.counts[0], "held_out_pieces": self.counts[1]}


def _nats(p: np.ndarray, roll: np.ndarray) -> float:
    return float(-np.log(np.where(roll > 0, p, 1 - p)).sum())


def _of(table_R2: np.ndarray) -> Answers:
    return Answers(table_R2, {"nats": float(table_R2[:, 0].mean())})
