"""Checks a backward pass against central differences."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.engine.differentiation import scatter
from chainrule.engine.module import Module
from chainrule.engine.tensor import Array, Tensor, untaped
from chainrule.errors import ChainruleError, UsageError


class GradientError(ChainruleError):
    """A backward pass that disagrees with the forward pass beside it."""


@dataclass(frozen=True)
class Checked:
    """The entry where the two gradients differ most, and both values there."""

    module: str
    where: str
    backward: float
    differences: float
    entries: int

    @property
    def error(self) -> float:
        """Relative to the larger of the two and 1."""
        return abs(self.backward - self.differences) / max(1.0, abs(self.backward), abs(self.differences))

    def __str__(self) -> str:
        return (f"{self.module}: {self.entries} entries, the worst is {self.where}: {self.backward:.9g} by backward, "
                f"{self.differences:.9g} by differences")


def gradcheck(module: Module, inputs: Sequence[Any], *, step: float = 1e-5, tolerance: float = 1e-7,
              seed: int = 0) -> Checked:
    r"""Compares backward with (f(x + h) − f(x − h)) / 2h in float64, for every entry of every input and parameter.

    f is the sum of all outputs, each entry with a random weight. Every evaluation begins from the module as it is, so
    dropout leaves out the same entries. The worst entry comes back; beyond the tolerance it is a GradientError.
    """
    if not isinstance(module, Module) or not isinstance(inputs, list | tuple):
        raise UsageError(f"gradcheck was given {type(module).__name__} and {type(inputs).__name__}, expected a module "
                         "and a list of its inputs. A function of tensors is the forward of a Composite.")
    module = copy.deepcopy(module).to(np.float64)
    leaves = _leaves(inputs)
    named = {f"input {n}": leaf for n, leaf in enumerate(leaves) if leaf.wants} | module.named_parameters()
    if not any(leaf.value.size for leaf in named.values()):
        raise UsageError(f"{type(module).__name__} was given no number with a gradient and has no parameters: "
                         "there is nothing to check.")
    weights = np.random.default_rng(seed)
    shapes = [each.shape for each in _outputs(copy.deepcopy(module)(*leaves))]
    shares = [weights.normal(size=shape) for shape in shapes]
    found = scatter(_weighed(module, leaves, shares))
    checked = Checked(type(module).__name__, "", 0.0, 0.0, sum(leaf.value.size for leaf in named.values()))
    for name, leaf in named.items():
        gradient = np.broadcast_to(found.get(leaf, 0.0), leaf.shape)
        for place, slope in _differences(module, leaves, shares, leaf, step):
            each = Checked(checked.module, f"{name} {list(place)}", float(gradient[place]), slope, checked.entries)
            if not checked.where or not each.error <= checked.error:
                checked = each
    if not checked.error <= tolerance:
        raise GradientError(f"{checked.module}.backward = {checked.backward:.9g} at {checked.where}, expected "
                            f"{checked.differences:.9g} by central differences. Of {checked.entries} entries this is "
                            "the worst.")
    return checked


def _leaves(inputs: Sequence[Any]) -> list[Tensor]:
    """Copies in float64: the check moves them."""
    arrays = [np.asarray(each.value if isinstance(each, Tensor) else each) for each in inputs]
    return [Tensor(np.array(each, np.float64 if each.dtype.kind == "f" else None)) for each in arrays]


def _outputs(y: Any) -> tuple[Tensor, ...]:
    return y if isinstance(y, tuple) else (y,)


def _weighed(module: Module, leaves: list[Tensor], shares: list[Array]) -> Tensor:
    """Σ weight · output. A copy of the module, with the same parameters, draws the same random numbers in each call."""
    memo: dict[int, Any] = {id(each): each for each in module.parameters()}
    outputs = _outputs(copy.deepcopy(module, memo)(*leaves))
    total, *rest = [(y * share).sum() for y, share in zip(outputs, shares, strict=True)]
    for each in rest:
        total = total + each
    return total


def _differences(module: Module, leaves: list[Tensor], shares: list[Array], leaf: Tensor,
                 step: float) -> Iterator[tuple[tuple[int, ...], float]]:
    with untaped():
        for place in np.ndindex(leaf.shape):
            middle = leaf.value[place]
            leaf.value[place] = middle + step
            above = _weighed(module, leaves, shares).item()
            leaf.value[place] = middle - step
            below = _weighed(module, leaves, shares).item()
            leaf.value[place] = middle
            yield place, (above - below) / (2 * step)
