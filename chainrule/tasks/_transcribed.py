"""Transcribers on the same held-out recordings: what `compare` ranks them by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.evaluation.ranking import Answers, Column
from chainrule.evaluation.transcripts import character_edits, error_table, word_edits
from chainrule.inputs.labeled import Example
from chainrule.inputs.rows import parted
from chainrule.protocols import Transcriber
from chainrule.recipe.registry import build

BASELINE = "nothing"


@dataclass(frozen=True)
class HeldOut:
    """Recordings with their texts, none of which is learned from."""

    examples: tuple[Example, ...]
    name: str

    def fingerprint(self) -> str:
        found = hashlib.sha256()
        for each in self.examples:
            found.update(repr((Path(each.text.decode(errors="replace")).name, each.labels)).encode())
        return found.hexdigest()


class Transcribed:
    """Word error rate over all recordings; the character error rate and the share without any error beside it."""

    beside: Mapping[str, Column] = {"cer": Column("CER"), "without_errors": Column("without errors")}
    notes: Sequence[str] = ()

    def __init__(self, task: Any, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, fraction: float,
                 seed: int):
        self.task, self.recipe, self.seed, self.split = task, recipe, seed, fraction
        self.units = task.modality.plural
        self.train: Any = task.open(list(data), recipe)
        if valid is not None:
            held, self.split = task.open(list(valid), recipe), 0.0
        else:
            self.train, held = parted(self.train, fraction, seed)
        self.held_out = HeldOut(tuple(task.examples(held, recipe)), held.name)
        if not self._counted or not self.held_out.examples:
            raise DataError(f"{', '.join(data)}: {self._counted} {self.units} to learn from and "
                            f"{len(self.held_out.examples)} held out, expected some of each. Give more, or name the "
                            "held-out ones with --valid FILE.")
        self.measure = build("evaluation/measures", "word_error_rate")

    @cached_property
    def _counted(self) -> int:
        return len(self.task.examples(self.train, self.recipe))

    def for_validation(self) -> tuple[Any, Any]:
        return parted(self.train, 0.1, self.seed + 1)

    def answers(self, run: Any) -> Answers:
        model = run.offering(Transcriber, "compare")
        found = model.transcribe([each.text for each in self.held_out.examples])
        return self._judged([own[0][0] for own in found])

    def baselines(self) -> dict[str, Answers]:
        """A rule that anyone could write down: no word at all, which leaves out every one."""
        return {BASELINE: self._judged([""] * len(self.held_out.examples))}

    def _judged(self, said: Sequence[str]) -> Answers:
        pairs = list(zip(self.held_out.examples, said, strict=True))
        words = [word_edits(each, text) for each, text in pairs]
        letters = error_table([character_edits(each, text) for each, text in pairs])
        cer = build("evaluation/measures", "character_error_rate").value(letters)
        return Answers(error_table(words), {"cer": cer, "without_errors":
                                            sum(not each.errors for each in words) / len(words)})

    def facts(self) -> dict[str, Any]:
        return {"train_recordings": self._counted, "held_out_recordings": len(self.held_out.examples)}
