"""What a method for word vectors does: it reads a corpus as words, and learns tables from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from chainrule.vectors.text import Source, Text
from chainrule.vectors.training_options import TrainingOptions

Tensors = dict[str, np.ndarray]


@dataclass(frozen=True)
class Learned:
    """What is saved, `vectors` (V, D) among it, and facts for the report."""

    tensors: Tensors
    facts: dict[str, Any] = field(default_factory=dict)


class Method(Protocol):
    """`usual` has the options of the `training` section that the method uses, with their defaults."""

    usual: Mapping[str, float]
    continues: ClassVar[bool]  # whether training can go on from a run of the same method

    def read(self, source: Source) -> Text:
        """The corpus as words; usually `read_text`."""
        ...

    def learn(self, text: Text, options: TrainingOptions, before: Tensors | None) -> Learned:
        """The vectors; `before` are an earlier run's tensors, a row for each word here, where that was asked for."""
        ...
