"""A moving average of the weights, which is often better than the weights of any one step: in torch, and in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.engine import Parameter

if TYPE_CHECKING:
    from torch import nn


def decay_at(decay: float, step: int) -> float:
    """d = min(decay, (1 + step) / (10 + step)), so that the initial weights soon stop counting."""
    return min(decay, (1 + step) / (10 + step))


class Average:
    """a ← d a + (1 − d) w. Polyak & Juditsky 1992."""

    def __init__(self, model: nn.Module, decay: float):
        from chainrule.training.weights import weights

        self.model, self.decay, self.weights = model, decay, weights
        self.tensors = {name: tensor.clone() for name, tensor in weights(model).items()}

    def update(self, step: int) -> None:
        import torch

        now = self.weights(self.model)
        with torch.no_grad():
            torch._foreach_lerp_(list(self.tensors.values()), [now[name] for name in self.tensors],
                                 1 - decay_at(self.decay, step))

    @contextmanager
    def used(self) -> Iterator[None]:
        """Inside the block, the model has the average as its weights."""
        own = {name: tensor.clone() for name, tensor in self.weights(self.model).items()}
        self._copy(self.tensors)
        try:
            yield
        finally:
            self._copy(own)

    def _copy(self, tensors: dict[str, Any]) -> None:
        import torch

        now = self.weights(self.model)
        with torch.no_grad():
            torch._foreach_copy_([now[name] for name in tensors], list(tensors.values()))


class ArrayAverage:
    """The same of the engine's parameters."""

    def __init__(self, parameters: list[Parameter], decay: float):
        self.parameters, self.decay = parameters, decay
        self.arrays = [np.array(each.value) for each in parameters]

    def update(self, step: int) -> None:
        share = 1 - decay_at(self.decay, step)
        for array, parameter in zip(self.arrays, self.parameters, strict=True):
            array += share * (parameter.value - array)

    @contextmanager
    def used(self) -> Iterator[None]:
        own = [each.value for each in self.parameters]
        self._put(self.arrays)
        try:
            yield
        finally:
            self._put(own)

    def _put(self, arrays: list[np.ndarray]) -> None:
        for parameter, array in zip(self.parameters, arrays, strict=True):
            parameter.value = array
