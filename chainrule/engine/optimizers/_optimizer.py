"""What optimizers have in common: they change values in place, and keep some state for each parameter."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array, Parameter, Tensor
from chainrule.errors import OptionError, UsageError

JIT_PAYS_FROM = 100_000  # parameters: with fewer, NumPy has done many steps before Numba is loaded


class Optimizer:
    """`step()` changes every parameter that has a gradient; `rate` may be changed before any step.

    `kept` has the arrays beside each parameter, in the order of `keeps`: with `steps` they are all that must be saved
    to go on later. Values change in place: a graph that was built before has to be walked before the step.
    """

    keeps: tuple[str, ...] = ()
    fused = False  # whether one pass of a kernel does a step, where an optimizer has one

    def __init__(self, parameters: Iterable[Parameter], rate: float):
        name = type(self).__name__
        if isinstance(parameters, Module | Tensor | dict):
            raise UsageError(f"{name} was given {type(parameters).__name__}, expected a list: module.parameters().")
        self.parameters = list(parameters)
        if odd := [each for each in self.parameters if not isinstance(each, Tensor)]:
            raise UsageError(f"{name} was given {type(odd[0]).__name__} among its parameters, expected tensors.")
        if not self.parameters:
            raise UsageError(f"{name} was given no parameters.")
        self.rate = checked(f"{name}.rate", rate, 0, np.inf)
        self.steps = 0
        self.fused = sum(each.value.size for each in self.parameters) >= JIT_PAYS_FROM
        self.kept = [[np.zeros_like(each.value) for _ in self.keeps] for each in self.parameters]

    def step(self) -> None:
        self.steps += 1
        for parameter, kept in zip(self.parameters, self.kept, strict=True):
            if parameter.grad is not None:
                if kept and kept[0].dtype != parameter.value.dtype:
                    kept[:] = [each.astype(parameter.value.dtype) for each in kept]
                self.change(parameter.value, parameter.grad, *kept)

    def change(self, value: Array, gradient: Array, *kept: Array) -> None:
        """Writes to value and kept, never to the gradient."""
        raise NotImplementedError


def checked(where: str, given: float, above: float, below: float, *, or_equal: bool = False) -> float:
    """A number strictly between two, or equal to the lower one."""
    if not (above < given < below or (or_equal and given == above)):
        limit = "" if below == np.inf else f" and less than {below:g}"
        raise OptionError(where, given, f"{'at least' if or_equal else 'more than'} {above:g}{limit}")
    return given
