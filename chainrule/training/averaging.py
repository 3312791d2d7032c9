"""A moving average of the weights, which is often better than the weights of any one step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from chainrule.training.weights import weights


class Average:
    """a ← d a + (1 − d) w,  d = min(decay, (1 + step) / (10 + step)), so that the beginning is soon forgotten.

    Polyak & Juditsky 1992.
    """

    def __init__(self, model: nn.Module, decay: float):
        self.model, self.decay = model, decay
        self.tensors = {name: tensor.clone() for name, tensor in weights(model).items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        decay = min(self.decay, (1 + step) / (10 + step))
        now = weights(self.model)
        torch._foreach_lerp_(list(self.tensors.values()), [now[name] for name in self.tensors], 1 - decay)

    @contextmanager
    def used(self) -> Iterator[None]:
        """The model with the average in the place of its weights."""
        own = {name: tensor.clone() for name, tensor in weights(self.model).items()}
        _copy(self.model, self.tensors)
        try:
            yield
        finally:
            _copy(self.model, own)


@torch.no_grad()
def _copy(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    now = weights(model)
    torch._foreach_copy_([now[name] for name in tensors], list(tensors.values()))
