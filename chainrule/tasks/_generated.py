"""Texts that models generate beside references: how a run is evaluated, and what `compare` ranks models by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.evaluation.ranking import Answers, Column
from chainrule.inputs.pairs import pairs_of
from chainrule.protocols import Translator
from chainrule.recipe.registry import build

BEAMS = 5
LENGTHS = (10, 15, 20, 25, 30, 40, 60)  # words of a source: where the rows of the table by length end


@dataclass(frozen=True)
class References:
    """Sources with their references: of aligned files line by line, of tables each source once with all its targets.
    """

    sources: tuple[bytes, ...]
    targets: tuple[tuple[str, ...], ...]
    name: str

    @staticmethod
    def of(corpus: Any) -> References:
        found: dict[Any, tuple[bytes, list[str]]] = {}
        for number, each in enumerate(pairs_of(corpus)):
            key = each.source if each.in_table else number
            found.setdefault(key, (each.source, []))[1].append(each.target.decode(errors="replace"))
        if not found:
            raise DataError(f"{corpus.name}: no pairs to measure on.")
        return References(tuple(source for source, _ in found.values()),
                          tuple(tuple(dict.fromkeys(own)) for _, own in found.values()), corpus.name)

    def fingerprint(self) -> str:
        return hashlib.sha256(repr((self.sources, self.targets)).encode()).hexdigest()


def evaluated(task: Any, run: Any, corpus: Any, how: Any) -> dict[str, Any]:
    """The figures of what a run makes of all sources, beside what they should become."""
    model = run.offering(Translator, "evaluate")
    held = References.of(corpus)
    best = model.translate(held.sources, beams=how.beams or BEAMS)
    texts = [own[0].text if own else "" for own in best]
    found = {task.units: len(held.sources), "references": sum(map(len, held.targets)), "beams": how.beams or BEAMS,
             **task.judged(texts, held.targets, how.bootstrap)}
    return found | by_length(task, held, texts)


def by_length(task: Any, held: References, texts: Sequence[str]) -> dict[str, Any]:
    """The measure of sources of like length; nothing where sources are no texts."""
    if task.modality.endings:
        return {}
    words = np.array([len(source.split()) for source in held.sources])
    measure, table = build("evaluation/measures", task.measure_name), task.table(texts, held.targets)
    rows, low = [], 1
    for high in (*LENGTHS, int(words.max(initial=0))):
        inside = (words >= low) & (words <= high)
        if inside.any():
            rows.append({"words": f"{low} to {high}", "sentences": int(inside.sum()),
                         task.measure_name: measure.value(table[inside])})
        low = high + 1
    return {"by_length": rows}


class GeneratedTexts:
    """Models of one task on the same sources: ranked by the task's measure of what each of them writes."""

    beside: Mapping[str, Column] = {}
    notes: Sequence[str] = ()

    def __init__(self, task: Any, recipe: Any, data: tuple[Sequence[str], Sequence[str] | None],
                 targets: tuple[Any, Any], fraction: float, seed: int):
        self.task, self.seed, self.split, self.units = task, seed, fraction, task.units
        self.train: Any = task.open(list(data[0]), recipe, targets[0])
        if data[1] is not None:
            held, self.split = task.open(list(data[1]), recipe, targets[1]), 0.0
        else:
            self.train, held = task.split(self.train, fraction, seed)
        self.held_out = References.of(held)
        self.measure = build("evaluation/measures", task.measure_name)

    @cached_property
    def _counted(self) -> int:
        return sum(1 for _ in pairs_of(self.train))

    def for_validation(self) -> tuple[Any, Any]:
        return self.task.split(self.train, 0.1, self.seed + 1)

    def answers(self, run: Any) -> Answers:
        model = run.offering(Translator, "compare")
        texts = [own[0].text if own else "" for own in model.translate(self.held_out.sources, beams=BEAMS)]
        return Answers(self.task.table(texts, self.held_out.targets))

    def baselines(self) -> dict[str, Answers]:
        """What rules that anyone could write down answer, such as the source as it is."""
        return {name: Answers(self.task.table(texts, self.held_out.targets))
                for name, texts in self.task.rules(self.train, self.held_out).items()}

    def facts(self) -> dict[str, Any]:
        return {"train_pairs": self._counted, f"held_out_{self.units}": len(self.held_out.sources)}
