"""What an evaluation of word vectors does: recognize its files, and measure vectors on one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from chainrule.text.corpora.blocks import lines
from chainrule.vectors.store import Vectors

SIZE = 1 << 20  # bytes read at a time


class Evaluation(Protocol):
    """What a file in chainrule/vectors/evaluations/ marks as its part."""

    units: ClassVar[str]  # what is asked: questions, pairs, texts
    measured_by: ClassVar[str]  # the part of evaluation/measures by which `compare` ranks

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether the file looks like one of this kind."""
        ...

    def measure(self, vectors: Vectors, path: Path) -> dict[str, Any]:
        """The scores; what could not be asked because a word is unknown is counted, never hidden."""
        ...

    def answers(self, vectors: Vectors, path: Path) -> np.ndarray:
        """(R, K): what was found for each unit of the file, as the measure reads it; NaN where a word is unknown."""
        ...


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines with text on them, less comments that begin with #."""
    for number, line in lines(path, size=SIZE, errors="convert"):
        text = line.decode().strip()
        if text and not text.startswith("#"):
            yield number, text


def row_of(vectors: Vectors, word: str) -> int:
    """The word's row, spelled as it is or in lower case; −1 where it has none."""
    return vectors.rows.get(word, vectors.rows.get(word.lower(), -1))
