"""What a modality does: read one kind of input, find out what encoding it needs, and make batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from chainrule.task_protocols import Small

if TYPE_CHECKING:
    from chainrule.inputs.files import Archive
    from chainrule.jobs import Job

Facts = Mapping[str, Any]


class Modality(Protocol):
    """Texts, images, recordings: `learn` looks at the training data once, `encode` and `batch` make arrays.

    A value is what the data says about one input: the text itself, or the path of a file. Facts are plain values,
    which a run keeps in its known.json. Where a modality has files, a table names them in the column `called`.
    """

    called: ClassVar[str]  # one of them, in a message
    plural: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = ()  # of files with one of them each; () where the data has them itself
    view: ClassVar[str] = "decisions"  # what `chainrule inspect` shows of a classifier of them
    whole: ClassVar[bool] = False  # whether all have one size, whatever the context, and none is cut

    def small(self, folder: Path) -> Small:
        """Writes a few of them with labels into a folder, for the contract; what a recipe must say to read them."""
        ...

    def archive(self, path: Path, need_labels: bool) -> Archive | None:
        """The inputs of a file that holds many of them, such as MNIST's; None where it is no such file."""
        return None

    def learn(self, values: Sequence[bytes], job: Job) -> tuple[Any, dict[str, Any]]:
        """The tokenizer, or None where no text is read, and facts that encoding needs."""
        ...

    def sizes(self, vocabulary: int, facts: Facts) -> tuple[int, tuple[int, ...]]:
        """Different tokens that are read, and the shape of an input that is not a token; without facts, a guess."""
        ...

    def encode(self, values: Sequence[bytes], tokenizer: Any, facts: Facts, most: int) -> list[np.ndarray]:
        """(t, …) of each value, t at most `most`."""
        ...

    def names(self, array: np.ndarray, tokenizer: Any) -> list[str]:
        """What each of the vectors that a network makes of an input stands for, in a picture."""
        return [str(n + 1) for n in range(len(array))]

    def batch(self, arrays: Sequence[np.ndarray], facts: Facts, draw: np.random.Generator | None
              ) -> tuple[np.ndarray, np.ndarray | None]:
        """(B, T, …) inputs, and the real ones of each row (B,), or None where none is padded.

        `draw` is there in training, for what is changed at random.
        """
        ...

    def picture(self, array: np.ndarray) -> np.ndarray | None:
        """(H, W, C) bytes that show an encoded input, a pixel for each of its numbers; None where it is no picture."""
        return None
