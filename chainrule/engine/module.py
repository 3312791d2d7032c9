"""Modules: a forward and a backward pass side by side, with the parameters that they use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from chainrule.engine.tensor import KINDS, Array, Parameter, Tensor, taping, tensors
from chainrule.errors import OptionError, UsageError


class Module:
    """A function with its derivative. A new module overrides two methods, which work on arrays and store nothing:

    forward(*inputs, *parameters) → (y, memory): the output, and whatever the backward pass will need.
    backward(dy, memory) → the gradient of each input and parameter in that order: dx = dy · ∂y/∂x, and so on.

    A single gradient need not be a tuple. A gradient may be None (nothing flows there), a function that gives it
    (called only if it is needed), or have the larger shape of a broadcast: it is then summed to the right shape.
    With several outputs y and dy are tuples. Parameters are passed in the order in which they were made.
    """

    training = True
    own: tuple[Parameter, ...] = ()

    def forward(self, *given: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, dy: Any, memory: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def __call__(self, *given: Any) -> Any:
        inputs = (*tensors(given), *self.own)
        try:
            found = self.forward(*[each.value for each in inputs])
        except (ValueError, IndexError) as error:  # NumPy's, which does not know in which module it was
            error.add_note(_given(self, inputs))
            raise
        if type(found) is not tuple or len(found) != 2:
            raise UsageError(_not_a_pair(self, found))
        y, memory = found
        made = not isinstance(y, tuple)
        node = _made(y if made else _several(y), self, inputs, memory)
        return node if made else tuple(_made(part, Part(place), (node,), None) for place, part in enumerate(y))

    def __setattr__(self, name: str, value: Any) -> None:
        replaced = vars(self).get(name)
        super().__setattr__(name, value)
        if isinstance(value, Parameter) or isinstance(replaced, Parameter):
            super().__setattr__("own", tuple(each for each in vars(self).values() if isinstance(each, Parameter)))

    def modules(self) -> Iterator[tuple[str, Module]]:
        """The modules inside, at any depth, with the way to each: `layers.0.norm`; this one first, as ``."""
        yield "", self
        for way, held in _held(vars(self)):
            if isinstance(held, Module):
                yield from ((f"{way}.{rest}".rstrip("."), each) for rest, each in held.modules())

    def named_parameters(self) -> dict[str, Parameter]:
        """Every parameter once, by the first way that leads to it."""
        found: dict[str, Parameter] = {}
        for way, module in self.modules():
            for name, held in _held(vars(module)):
                if isinstance(held, Parameter) and not any(held is each for each in found.values()):
                    found[f"{way}.{name}".lstrip(".")] = held
        return found

    def parameters(self) -> list[Parameter]:
        return list(self.named_parameters().values())

    def clear(self) -> None:
        """Clears all gradients."""
        for parameter in self.parameters():
            parameter.grad = None

    def train(self, on: bool = True) -> Self:
        """Switches training mode on or off: dropout is active only in training."""
        for _, module in self.modules():
            module.training = on
        return self

    def to(self, kind: Any) -> Self:
        """All parameters as float32 or float64."""
        if np.dtype(kind) not in KINDS:
            raise OptionError(f"{type(self).__name__}.to", str(kind), "float32 or float64")
        for parameter in self.parameters():
            parameter.value = parameter.value.astype(kind)
            parameter.grad = None
        return self

    def load(self, values: dict[str, Array]) -> None:
        """Sets every parameter by name; all names must be there, with the right shapes."""
        own = self.named_parameters()
        if wrong := sorted(set(own) ^ set(values)):
            raise UsageError(f"{type(self).__name__}: {wrong[0]} is "
                             f"{'missing' if wrong[0] in own else 'no parameter of it'}. It has {', '.join(own)}.")
        for name, parameter in own.items():
            if parameter.shape != values[name].shape:
                raise UsageError(f"{name} has shape {values[name].shape}, expected {parameter.shape}.")
        for name, parameter in own.items():
            parameter.value = np.array(values[name], parameter.value.dtype)


class Composite(Module):
    """A module made of modules: its forward takes and returns tensors; backward is automatic."""

    def __call__(self, *given: Any) -> Any:
        return self.forward(*given)


class Part(Module):
    """One of several outputs; its gradient is stored under its number."""

    def __init__(self, place: int):
        self.place = place

    def backward(self, dy: Array, memory: None) -> dict[int, Array]:
        return {self.place: dy}


def _made(y: Any, module: Module, inputs: tuple[Tensor, ...], memory: Any) -> Tensor:
    node = Tensor.__new__(Tensor)
    node.value = y if type(y) is np.ndarray or type(y) is Several else np.asarray(y)
    node.grad, node.name = None, ""
    node.wants = taping() and any(each.wants for each in inputs)
    if node.wants:
        node.made_by, node.inputs, node.memory = module, inputs, memory
        node.depth = 1 + max([each.depth for each in inputs])
    else:
        node.made_by, node.inputs, node.memory, node.depth = None, (), None, 0
    return node


def _held(attributes: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a module's attributes hold, with the way to each; lists, tuples and dictionaries are opened."""
    for name, value in attributes.items():
        if name != "own":
            yield name, value
            inside = dict(enumerate(value)) if isinstance(value, list | tuple) else value
            if isinstance(inside, dict):
                yield from _held({f"{name}.{key}": each for key, each in inside.items()})


def _given(module: Module, inputs: tuple[Tensor, ...]) -> str:
    shapes = ", ".join(str(each.value.shape) for each in inputs[: len(inputs) - len(module.own)])
    return f"{type(module).__name__} was given inputs of shape {shapes or 'none at all'}."


def _not_a_pair(module: Module, found: Any) -> str:
    name = type(module).__name__
    if isinstance(found, Tensor):
        return f"{name}.forward gives a tensor, expected an array and a memory. What is made of modules is a Composite."
    return (f"{name}.forward gives {type(found).__name__}, expected a pair: the output, and what backward will need "
            "(None if nothing).")


class Several(tuple):
    """The value of a module with several outputs."""

    shape = None


def _several(y: tuple[Array, ...]) -> Several:
    return Several(np.asarray(each) for each in y)
