"""Labeled texts on disk: `label text` a line, in one file or in a training and a test file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from chainrule.errors import DataError
from chainrule.text.corpora.blocks import lines

SIZE = 1 << 20  # bytes read at a time
PREFIX = "__label__"
TWINS = {".pos": ".neg", ".neg": ".pos"}  # a class each, as the movie reviews of Pang and Lee have them
VALID = ("valid", "dev", "val", "validation")
LOOKED_AT = 1000  # lines


@dataclass(frozen=True)
class Files:
    """What is learned from, and what is tested on and chosen by where there are files for it."""

    train: list[Path]
    valid: Path | None = None
    test: Path | None = None

    def all(self) -> list[Path]:
        return [*self.train, *(path for path in (self.valid, self.test) if path is not None)]


@dataclass(frozen=True)
class Labeled:
    """Texts, the class of each (−1: one that training never had), and the labels of the classes."""

    texts: list[list[str]]
    labels: np.ndarray
    classes: list[str]


def files_of(path: Path) -> Files:
    """The files that belong together, by their names."""
    twin = path.with_suffix(TWINS[path.suffix]) if path.suffix in TWINS else None
    if twin is not None and twin.is_file():
        return Files(sorted([path, twin]))

    def beside(words: Sequence[str]) -> Path | None:
        named = (path.with_name(re.sub("train(ing)?", word, path.name)) for word in words)
        return next((each for each in named if each.is_file()), None)

    test = beside(["test"]) if "train" in path.name else None
    return Files([path], beside(VALID), test) if test is not None else Files([path])


def looks_labeled(path: Path) -> bool:
    """Whether every line has a label and a text, and labels come again and again."""
    if len(files_of(path).train) == 2:
        return True
    rows = list(islice(_rows(path), LOOKED_AT))
    labels = {label for _, label, _ in rows}
    return len(labels) > 1 and 4 * len(labels) <= len(rows) and all(label and text for _, label, text in rows)


def read_labeled(paths: Sequence[Path], classes: list[str] | None = None) -> Labeled:
    """The texts of the files; where there are two, each is a class."""
    labels: list[str] = []
    texts: list[list[str]] = []
    for path in paths:
        for number, label, text in _rows(path) if len(paths) == 1 else _class_of_its_own(path):
            if not text:
                raise DataError(f"{path}: line {number}: a label without a text, expected both.")
            labels.append(label)
            texts.append(text.split())
    if not texts:
        raise DataError(f"{paths[0]}: no texts, expected a label and a text a line.")
    known = sorted(set(labels)) if classes is None else classes
    number_of = {label: number for number, label in enumerate(known)}
    return Labeled(texts, np.array([number_of.get(label, -1) for label in labels]), known)


def _rows(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, label and text: the label ends at a tab if there is one, otherwise at the first space."""
    for number, line in lines(path, size=SIZE, errors="convert"):
        text = line.decode().strip()
        if text:
            label, _, rest = text.partition("\t" if "\t" in text else " ")
            yield number, label.removeprefix(PREFIX), rest.strip()


def _class_of_its_own(path: Path) -> Iterator[tuple[int, str, str]]:
    for number, line in lines(path, size=SIZE, errors="convert"):
        if line.strip():
            yield number, path.suffix, line.decode().strip()
