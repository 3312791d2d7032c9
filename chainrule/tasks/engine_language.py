"""Language modeling on the engine: the loss in NumPy, of the same batches as for torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.engine import Tensor, untaped
from chainrule.engine.modules.softmax_cross_entropy import SoftmaxCrossEntropy
from chainrule.tasks.language import Batch, Language


class EngineLanguage(Language):
    """For stacks of the engine."""

    def loss(self, model: Any, batch: Batch, state: Any) -> tuple[Tensor, Any]:
        hidden, after = model(batch.read, state)
        scores = model.head(hidden)
        mean = SoftmaxCrossEntropy()(scores, smoothed(batch.wanted, scores, self.smoothing))
        return mean * batch.tokens, after if self.carries else None

    def start(self, model: Any, rows: int) -> Any:
        return model.start(rows) if self.carries else None

    def measured(self, model: Any, batch: Batch, state: Any) -> tuple[float, Any]:
        with untaped():
            hidden, after = model(batch.read, state)
            return SoftmaxCrossEntropy()(model.head(hidden), batch.wanted).item() * batch.tokens, after

    def sent(self, ids: np.ndarray, device: None) -> np.ndarray:
        return ids


def smoothed(wanted: np.ndarray, scores: Tensor, smoothing: float) -> np.ndarray:
    """(1 − ε) one-hot + ε/V. Szegedy et al. 2016, arXiv:1512.00567, §7; without ε the classes as they are."""
    if not smoothing:
        return wanted
    target = np.full(scores.shape, smoothing / scores.shape[-1], scores.value.dtype)
    np.put_along_axis(target, wanted[..., None], 1 - smoothing + smoothing / scores.shape[-1], -1)
    return target
