"""Tensors: an array, what it was made from, and after a backward pass its gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.errors import UsageError
from chainrule.recipe.registry import find

if TYPE_CHECKING:
    from chainrule.engine.module import Module

Array = np.ndarray
KINDS = (np.dtype(np.float32), np.dtype(np.float64))
_taping: ContextVar[bool] = ContextVar("taping", default=True)  # each thread and task has its own


class Tensor:
    """A value in a computation graph. Only the tensors refer to the graph, so it is freed with them.

    `value` is an array (a scalar is one without axes). What a module made also has `made_by`, that module, the `inputs`
    it was given and the `memory` it keeps for its backward pass. `depth` is the longest way from a leaf. A leaf of
    float32 or float64 gets a `grad` from every backward pass that reaches it.
    """

    __slots__ = ("depth", "grad", "inputs", "made_by", "memory", "name", "value", "wants", "__weakref__")
    __array_ufunc__ = None  # array * tensor is a tensor: NumPy leaves it to us

    def __init__(self, value: Any, *, name: str = ""):
        self.value: Any = np.asarray(value)
        if self.value.dtype.kind not in "fiub" or (self.value.dtype.kind == "f" and self.value.dtype not in KINDS):
            raise UsageError(f"Tensor.value has numbers of type {self.value.dtype}, expected float32, float64 or "
                             "integers. Convert it with value.astype(numpy.float32).")
        self.name = name
        self.grad: Array | None = None
        self.wants = self.value.dtype.kind == "f"
        self.made_by: Module | None = None
        self.inputs: tuple[Tensor, ...] = ()
        self.memory: Any = None
        self.depth = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def item(self) -> float:
        return self.value.item()

    def backward(self) -> None:
        """Adds the gradient of this scalar to the `grad` of every leaf that it depends on."""
        from chainrule.engine.differentiation import backward

        backward(self)

    def __repr__(self) -> str:
        return f"Tensor({self.value!r}" + (f", made by {type(self.made_by).__name__})" if self.made_by else ")")

    def __add__(self, other: Any) -> Tensor:
        return _plain("add")(self, other)

    def __radd__(self, other: Any) -> Tensor:
        return _plain("add")(other, self)

    def __sub__(self, other: Any) -> Tensor:
        return _plain("subtract")(self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _plain("subtract")(other, self)

    def __mul__(self, other: Any) -> Tensor:
        return _plain("multiply")(self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return _plain("multiply")(other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return _plain("divide")(self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _plain("divide")(other, self)

    def __pow__(self, other: Any) -> Tensor:
        return _plain("power")(self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return _plain("power")(other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return _plain("batched_matmul")(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return _plain("batched_matmul")(other, self)

    def __neg__(self) -> Tensor:
        return _plain("multiply")(self, -1.0)

    def __getitem__(self, index: Any) -> Tensor:
        return _class("slice")(index)(self)

    def exp(self) -> Tensor:
        return _plain("exp")(self)

    def log(self) -> Tensor:
        return _plain("log")(self)

    def sum(self, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False) -> Tensor:
        return _class("sum")(axis=axis, keepdims=keepdims)(self)

    def mean(self, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False) -> Tensor:
        return _class("mean")(axis=axis, keepdims=keepdims)(self)

    def reshape(self, *shape: int | tuple[int, ...]) -> Tensor:
        return _class("reshape")(_lengths(shape))(self)

    def transpose(self, *axes: int | tuple[int, ...]) -> Tensor:
        return _class("transpose")(_lengths(axes) or None)(self)


class Parameter(Tensor):
    """A leaf that a module owns and an optimizer changes."""

    __slots__ = ()


def _lengths(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Numbers one by one or as one tuple, as NumPy takes them."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], tuple | list) else given


@cache
def _class(name: str) -> Callable[..., Module]:
    return find("engine/modules", name)


@cache
def _plain(name: str) -> Module:
    """The module of an operator: without options, parameters and memory of its own, so that one serves all."""
    return _class(name)()


@contextmanager
def untaped() -> Iterator[None]:
    """Inside, no graph is built: for evaluation and generation."""
    before = _taping.set(False)
    try:
        yield
    finally:
        _taping.reset(before)


def taping() -> bool:
    return _taping.get()


def tensors(given: Sequence[Any]) -> list[Tensor]:
    """The arguments of a module as tensors. An array is a constant: it gets no gradient.

    A Python number has the type of the tensors beside it, so that 2 * x is float32 where x is, and 0.5 stays 0.5
    beside whole numbers.
    """
    kinds = [each.value.dtype for each in given if isinstance(each, Tensor)]
    kind = next((each for each in kinds if each.kind == "f"), None)
    found = []
    for each in given:
        if not isinstance(each, Tensor):
            each = Tensor(np.asarray(each, kind if isinstance(each, float | int) else None))
            each.wants = False
        found.append(each)
    return found
