"""Models of images on the same held-out images: what `compare` ranks them by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.evaluation.ranking import Answers, Column
from chainrule.inputs.labeled import Layout, labeled
from chainrule.inputs.rows import parted
from chainrule.recipe.registry import build

BASELINE = "frequencies by place"


class HeldOutImages:
    """Bits per pixel of whole images; beside it, nats of an image."""

    units = "images"
    beside: Mapping[str, Column] = {"nats": Column("nats per image", 1)}
    notes: Sequence[str] = ()

    def __init__(self, task: Any, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, fraction: float,
                 seed: int):
        self.task, self.seed, self.split = task, seed, fraction
        self.train: Any = task.open(list(data), recipe)
        if valid is not None:
            self.held_out, self.split = task.open(list(valid), recipe), 0.0
        else:
            self.train, self.held_out = parted(self.train, fraction, seed)
        self.measure = build("evaluation/measures", "bits_per_pixel")
        learned, held = (sum(1 for _ in labeled(each, Layout())) for each in (self.train, self.held_out))
        if not learned or not held:
            raise DataError(f"{', '.join(data)}: {learned} images to learn from and {held} held out, expected some of "
                            "each. Give more images, or name the held-out ones with --valid FILE.")
        self.counts = learned, held

    def for_validation(self) -> tuple[Any, Any]:
        return parted(self.train, 0.1, self.seed + 1)

    def answers(self, run: Any) -> Answers:
        return _of(self.task.answered(run, self.held_out))

    def baselines(self) -> dict[str, Answers]:
        """How often each level occurs at each place in training, each taken to have been seen once more."""
        train, held, levels = self._tokens
        counts_TL = np.stack([(train == level).sum(axis=0) for level in range(levels)], axis=1) + 1.0
        log_p_TL = np.log(counts_TL / counts_TL.sum(axis=1, keepdims=True))
        nats_R = -log_p_TL[np.arange(held.shape[1]), held].sum(axis=1)
        return {BASELINE: _of(np.stack([nats_R, np.full(len(held), held.shape[1])], axis=1))}

    @cached_property
    def _tokens(self) -> tuple[np.ndarray, np.ndarray, int]:
        known, train = self.task.known_of(self.train)
        held = self.task.tokens(self.task.pixels(self.held_out, known.facts), known.facts)
        return train, held, len(known.facts["palette"])

    def facts(self) -> dict[str, Any]:
        return {"train_images": self.counts[0], "held_out_images": self.counts[1]}


def _of(table_R2: np.ndarray) -> Answers:
    return Answers(table_R2, {"nats": float(table_R2[:, 0].mean())})
