"""A moving average of the weights, which is often better than the weights of any one step: in torch, and in NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.engine import Parameter

if TYPE_CHECKING:
    from torch import nn

    from chainrule.training.plan import Plan
    from chainrule.training.state import TrainingState


def decay_at(decay: float, step: int) -> float:
    """d = min(decay, (1 + step) / (10 + step)), so that the initial weights soon stop counting."""
    return min(decay, (1 + step) / (10 + step))


class Average:
    """a ← d a + (1 − d) w. Polyak & Juditsky 1992."""

    def __init__(self, model: nn.Module, decay: float):
        from chainrule.training.weights import weights

        self.model, self.decay, self.weights = model, decay, weights
        self.tensors = {name: tensor.clone() for name, tensor in weights(model).items()}

    def share(self, state: TrainingState) -> float:
        """1 − d: how much of the average the weights of this step are."""
        return 1 - decay_at(self.decay, state.step)

    def update(self, state: TrainingState) -> None:
        import torch

        now = self.weights(self.model)
        with torch.no_grad():
            torch._foreach_lerp_(list(self.tensors.values()), [now[name] for name in self.tensors], self.share(state))

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


class TriggeredAverage(Average):
    """The mean of the weights of all steps after the validation loss stopped falling; until then, the weights.

    Merity, Keskar & Socher 2018, arXiv:1708.02182, algorithm 1: averaging begins after the evaluation t > n whose loss
    is above the least of all but the last n before it. A function of the history, so that resuming needs no more.
    """

    def __init__(self, model: nn.Module, non_monotone: int):
        super().__init__(model, 0.0)
        self.non_monotone = non_monotone

    def share(self, state: TrainingState) -> float:
        number = triggered(state.losses, self.non_monotone)
        return 1.0 if number is None else 1 / max(1, state.step - state.evaluations[number])


def keeps_average(plan: Plan) -> bool:
    """Whether a training has an average beside its weights: it asks for one, or its optimizer is made of one."""
    from chainrule.recipe.registry import resolve

    return plan.ema is not None or "non_monotone" in resolve("training/optimizers", plan.optimizer)


def triggered(losses: Sequence[float], non_monotone: int) -> int | None:
    """The number of the first evaluation that is worse than one that lies more than so many evaluations back."""
    best = float("inf")
    for number in range(non_monotone + 1, len(losses)):
        best = min(best, losses[number - non_monotone - 1])
        if losses[number] > best:
            return number
    return None


class ArrayAverage:
    """The same of the engine's parameters."""

    def __init__(self, parameters: list[Parameter], decay: float):
        self.parameters, self.decay = parameters, decay
        self.arrays = [np.array(each.value) for each in parameters]

    def update(self, state: TrainingState) -> None:
        share = 1 - decay_at(self.decay, state.step)
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
