"""Word vectors on the same questions and pairs of words: what `compare` ranks them by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import UsageError
from chainrule.evaluation.ranking import Answers, Column
from chainrule.protocols import WordVectors
from chainrule.recipe.registry import build, find
from chainrule.text.corpora import open_corpus
from chainrule.vectors.evaluating import KIND, files_to_measure

NEEDED = ("word vectors are ranked by a file of analogies or of pairs of words with scores, expected --valid FILE, "
          "such as: chainrule compare cbow skipgram --data TEXT --valid questions-words.txt --out REPORT")


@dataclass(frozen=True)
class QuestionFiles:
    """The files, each with the part that measures on it."""

    files: tuple[tuple[Path, str], ...]

    def fingerprint(self) -> str:
        found = hashlib.sha256()
        for path, part in self.files:
            for each in _read_with(path, part):
                found.update(f"{part}\0{each.name}\0".encode() + each.read_bytes())
        return found.hexdigest()


class WordQuestions:
    """The first test file ranks the models by its own measure; those of the others stand beside."""

    def __init__(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None):
        if valid is None:
            raise UsageError(NEEDED)
        self.train, self.split = open_corpus(list(data), recipe.text), 0.0
        self.held_out = QuestionFiles(tuple(files_to_measure(valid)))
        parts: list[Any] = [find(KIND, name) for _, name in self.held_out.files]
        for part, (path, name) in zip(parts, self.held_out.files, strict=True):
            if not hasattr(part, "answers"):
                raise UsageError(f"{path}: measured by the evaluation {name!r}, which does not say how each unit was "
                                 "answered, so models cannot be compared by it.")
        self.measure, self.units = build("evaluation/measures", parts[0].measured_by), parts[0].units
        self._others = [(f"{n}", path, name, build("evaluation/measures", part.measured_by)) for n, (part, (path, name))
                        in enumerate(zip(parts, self.held_out.files, strict=True)) if n]
        self.beside: Mapping[str, Column] = {"answered": Column("answered", 3)} | {
            key: Column(f"{measure.label}, {path.name}", measure.digits) for key, path, _, measure in self._others}
        ranked = self.held_out.files[0][0].name
        self.notes: Sequence[str] = [f"models are ranked by {ranked}, the first file of --valid; the measures of other "
                                     "files stand beside."] if self._others else []

    def for_validation(self) -> tuple[Any, Any]:
        return self.train, None

    def answers(self, run: Any) -> Answers:
        vectors = run.offering(WordVectors, "compare")
        path, name = self.held_out.files[0]
        table = build(KIND, name).answers(vectors, path)
        beside: dict[str, float | None] = {"answered": float(np.isfinite(table).all(axis=1).mean())}
        for key, other, part, measure in self._others:
            rows = Answers(build(KIND, part).answers(vectors, other))
            found = measure.value(rows.table[rows.known]) if rows.known.any() else float("nan")
            beside[key] = None if np.isnan(found) else found
        return Answers(table, beside)

    def baselines(self) -> dict[str, Answers]:
        return {}

    def facts(self) -> dict[str, Any]:
        return {"train_bytes": self.train.size, "test_files": [str(path) for path, _ in self.held_out.files]}


def _read_with(path: Path, name: str) -> list[Path]:
    """All files that are read for this one."""
    part: Any = find(KIND, name)
    return part.files(path) if hasattr(part, "files") else [path]
