"""Memory of an engine stack: what its tape holds on to, found by reading one row and two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from chainrule.engine.differentiation import recorded
from chainrule.models.cost.sizes import TrainingMemory
from chainrule.models.engine_stack import EngineStack


def training_memory(stack: EngineStack, rows: int, context: int, *, kept: int, average: bool = False
                    ) -> TrainingMemory:
    """For so many rows at once; an optimizer keeps so many numbers beside each weight."""
    weights = sum(each.value.nbytes for each in stack.parameters())
    table = stack.embedding.weight.value
    one, two = (kept_bytes(stack, np.zeros((count, context), np.int64)) for count in (1, 2))
    logits = 3 * rows * context * len(table) * table.itemsize
    return TrainingMemory(weights, weights, kept * weights, one + (rows - 1) * (two - one), logits,
                          weights if average else 0)


def kept_bytes(stack: EngineStack, ids: np.ndarray) -> int:
    """Bytes that the forward pass of a stack keeps for its backward pass, each array once, without the weights."""
    hidden, _ = stack(ids)
    own = {id(_owner(each.value)) for each in stack.parameters()}
    found = {id(owner): owner.nbytes for node in recorded(hidden)
             for array in _arrays((node.value, node.memory)) if id(owner := _owner(array)) not in own}
    return sum(found.values())


def _arrays(memory: Any) -> Iterator[np.ndarray]:
    if isinstance(memory, np.ndarray):
        yield memory
    elif isinstance(memory, tuple | list):
        for each in memory:
            yield from _arrays(each)


def _owner(array: np.ndarray) -> np.ndarray:
    """The array whose memory this one looks at."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
