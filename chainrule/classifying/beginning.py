"""What a classifier's rows are before the first pass: random and zero, pretrained word vectors, or an earlier run's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.classifying.features import Features
from chainrule.classifying.targets import Gathered


@dataclass(frozen=True)
class Beginning:
    """Random rows for features, zeros for labels: nothing is known."""

    def gathered(self) -> Gathered:
        """What collects the labels of texts while they are read."""
        return Gathered()

    def more(self) -> dict[str, Any]:
        """Features that have rows whether or not texts have them, for `learn_features`."""
        return {}

    def put_into(self, features: Features, inputs: np.ndarray, outputs: np.ndarray) -> None:
        """Copies what is known into the rows of (features, D) and (labels, D) tables."""


@dataclass(frozen=True)
class WithVectors(Beginning):
    """Pretrained vectors for the rows of their words (Joulin et al. 2016)."""

    vectors: Any

    def more(self) -> dict[str, Any]:
        return {"more": [word.encode() for word in self.vectors.words]}

    def put_into(self, features: Features, inputs: np.ndarray, outputs: np.ndarray) -> None:
        for row, word in enumerate(features.words, start=1):
            if (place := self.vectors.rows.get(word.decode())) is not None:
                inputs[row, : self.vectors.dimension] = self.vectors.table[place]
