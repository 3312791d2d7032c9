"""The backward pass, twice: each node increments its inputs, or each node sums over its consumers.

Both walk the same graph with the chain rule: dx = Σ_{y made from x} dy · ∂y/∂x.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import numpy as np

from chainrule.engine.broadcasting import summed_to
from chainrule.engine.module import Several
from chainrule.engine.tensor import Array, Tensor
from chainrule.errors import UsageError

Gradients = dict[Tensor, Any]


def backward(loss: Tensor) -> None:
    """Adds to the `grad` of every leaf; nothing is changed if anything fails on the way.

    Each `grad` is an array of its own, to be written to: that of a sum may have been one array for all its terms.
    """
    given: set[int] = set()
    for tensor, gradient in scatter(loss, only_leaves=True).items():
        if tensor.grad is not None:
            gradient = tensor.grad + gradient
        elif id(gradient) in given or gradient.base is not None:
            gradient = gradient.copy()
        given.add(id(gradient))
        tensor.grad = np.asarray(gradient)


def scatter(loss: Tensor, *, only_leaves: bool = False) -> Gradients:
    """The tape is popped from its end; each application increments the gradients of its inputs."""
    gradients: Gradients = {loss: _one(loss)}
    tape = recorded(loss)
    while tape:
        node = tape.pop()
        dy = gradients.pop(node) if only_leaves else gradients[node]
        for tensor, gradient in zip(node.inputs, pulled(node, dy), strict=True):
            if gradient is not None:
                before = gradients.get(tensor)
                gradients[tensor] = gradient if before is None else _sum(before, gradient)
    return gradients


def gather(loss: Tensor) -> Gradients:
    """Each tensor, the last first, sums over its consumers, whose gradients are known by then."""
    gradients: Gradients = {loss: _one(loss)}
    tape = recorded(loss)
    consumers: dict[Tensor, list[tuple[Tensor, int]]] = defaultdict(list)
    for node in tape:
        for place, tensor in enumerate(node.inputs):
            consumers[tensor].append((node, place))
    leaves = {tensor: None for node in tape for tensor in node.inputs if not tensor.inputs and tensor.wants}
    back: dict[Tensor, list[Any]] = {}
    for tensor in (*reversed(tape), *leaves):
        if tensor is not loss:
            shares = [back[node][place] for node, place in consumers[tensor]]
            gradients[tensor] = _total([each for each in shares if each is not None], tensor)
        if tensor.inputs:
            back[tensor] = pulled(tensor, gradients[tensor])
    return gradients


def recorded(loss: Tensor) -> list[Tensor]:
    """The tape: every application that the loss depends on, inputs before what is made from them.

    Always in the same order, so that sums have the same last bits in every run.
    """
    seen, waiting = {loss: None}, [loss]
    while waiting:
        for tensor in waiting.pop().inputs:
            if tensor.inputs and tensor not in seen:
                seen[tensor] = None
                waiting.append(tensor)
    return sorted((node for node in seen if node.inputs), key=attrgetter("depth"))


def pulled(node: Tensor, dy: Any) -> list[Any]:
    """The gradients of an application's inputs, in their shapes; None where none is needed."""
    assert node.made_by is not None
    if type(node.value) is Several:
        dy = tuple(dy.get(place, np.zeros_like(part)) for place, part in enumerate(node.value))
    found = node.made_by.backward(dy, node.memory)
    if not isinstance(found, tuple | list):
        found = (found,)
    name = type(node.made_by).__name__
    if len(found) != len(node.inputs):
        raise UsageError(f"{name}.backward gives {len(found)} gradients, expected {len(node.inputs)}: one for each "
                         "input and parameter.")
    return [_shaped(gradient() if callable(gradient) else gradient, tensor, name)
            if tensor.wants and gradient is not None else None
            for gradient, tensor in zip(found, node.inputs, strict=True)]


def _shaped(gradient: Any, tensor: Tensor, module: str) -> Any:
    return gradient if type(gradient) is dict else summed_to(np.asarray(gradient), tensor.value.shape, module)


def _one(loss: Tensor) -> Array:
    if not isinstance(loss, Tensor):
        raise UsageError(f"the backward pass begins at {type(loss).__name__}, expected a Tensor: what a module gives.")
    if loss.value.size != 1:
        raise UsageError(f"the backward pass begins at a tensor of shape {loss.shape}, expected a single number. "
                         "Take its sum or mean.")
    if not loss.wants:
        raise UsageError("the backward pass begins at a number that nothing has a gradient of. It was made of whole "
                         "numbers (write Tensor(3.0), not Tensor(3)), of arrays alone, or inside untaped().")
    return np.ones_like(loss.value)


def _sum(before: Any, more: Any) -> Any:
    """A new array, since either may be shared with another tensor. Those of several outputs are merged by number."""
    return before | more if type(before) is dict else before + more


def _total(shares: Iterable[Any], tensor: Tensor) -> Any:
    found: Any = None
    for share in shares:
        found = share if found is None else _sum(found, share)
    if found is None:
        return {} if type(tensor.value) is Several else np.zeros_like(tensor.value)
    return found
