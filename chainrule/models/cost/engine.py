"""The cost of an engine stack: its parts, the memory of its tape, and its speed on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from chainrule.engine.differentiation import recorded
from chainrule.engine.module import Module
from chainrule.engine.modules.softmax_cross_entropy import SoftmaxCrossEntropy
from chainrule.engine.optimizers.adamw import AdamW
from chainrule.models.cost.measuring import Speed, cached_speed, fastest
from chainrule.models.cost.sizes import DecodingMemory, Part, TrainingMemory, estimated
from chainrule.models.engine_stack import EngineStack
from chainrule.models.shape import Shape
from chainrule.recipe.choices import Choice
from chainrule.storage.environment import processor
from chainrule.threads import cores

STEP = 1e10  # FLOPs of a measured step at most: some 0.3 s of two cores


def estimate(stack: EngineStack, rows: int, *, kept: int, average: bool = False, refresh: bool = False
             ) -> dict[str, Any]:
    """The cost of a stack that is trained with so many rows at once; measuring changes its weights."""
    context = stack.shape.context
    memory = training_memory(stack, rows, context, kept=kept, average=average)
    found = counted(stack)
    return estimated(stack.vocabulary, context, found, memory, decoding_memory(stack),
                     speed(stack, rows, refresh=refresh))


def counted(stack: EngineStack) -> list[Part]:
    """Every kind of part in the order in which a token meets them; FLOPs as `EngineStack.flops_per_token` has them."""
    shape = stack.shape
    head = 6.0 * stack.head.weight.value.size
    found = [Part("embedding", _named(shape.embedding), 1, _size(stack.embedding))]
    if _size(stack.position):
        found.append(Part("position", _named(shape.position), 1, _size(stack.position)))
    for letter in dict.fromkeys(stack.letters):
        bodies = [layer.body for own, layer in zip(stack.letters, stack.sublayers, strict=True) if own == letter]
        flops = len(bodies) * (_alone(shape, letter).flops_per_token(shape.context) - 6.0 * shape.width)
        kind = shape.kind(letter).rpartition("/")[2].removesuffix("s")
        size = sum(map(_size, {id(each): each for each in bodies}.values()))
        found.append(Part(kind, shape.part(letter)["name"], len(bodies), size, flops / 3, flops))
    norms = [each.norm for each in [*(layer.wiring for layer in stack.sublayers), stack] if hasattr(each, "norm")]
    if size := sum(map(_size, {id(each): each for each in norms}.values())):
        found.append(Part("norm", _named(shape.norm), len(norms), size))
    own = 0 if stack.head.tied else _size(stack.head)
    return [*found, Part("head", _named(shape.head), 1, own, head / 3, head)]


def _named(choice: Choice) -> str:
    return choice if isinstance(choice, str) else choice["name"]


def training_memory(stack: EngineStack, rows: int, context: int, *, kept: int, average: bool = False
                    ) -> TrainingMemory:
    """For so many rows at once; an optimizer keeps so many numbers beside each weight."""
    weights = sum(each.value.nbytes for each in stack.parameters())
    one, two = (kept_bytes(stack, np.zeros((count, context), np.int64)) for count in (1, 2))
    logits = 3 * rows * context * stack.vocabulary * stack.dtype.itemsize
    return TrainingMemory(weights, weights, kept * weights, one + (rows - 1) * (two - one), logits,
                          weights if average else 0)


def kept_bytes(stack: EngineStack, ids: np.ndarray) -> int:
    """Bytes that the forward pass of a stack keeps for its backward pass, each array once, without the weights."""
    hidden, _ = stack(ids)
    own = {id(_owner(each.value)) for each in stack.parameters()}
    found = {id(owner): owner.nbytes for node in recorded(hidden)
             for array in _arrays((node.value, node.memory)) if id(owner := _owner(array)) not in own}
    return sum(found.values())


def decoding_memory(stack: EngineStack) -> DecodingMemory:
    """Bytes of the sublayers' state for one row: after one token, and what a second adds."""
    one, two = (sum(array.nbytes for array in _arrays(_after(stack, count))
                    if array.dtype.kind == "f") for count in (1, 2))
    return DecodingMemory(2 * one - two, two - one)


def _after(stack: EngineStack, count: int) -> Any:
    """The state of the sublayers after so many tokens."""
    after = stack(np.zeros((1, count), np.int64), stack.start(1))[1]
    return None if after is None else after.sublayers


def speed(stack: EngineStack, rows: int, *, refresh: bool = False) -> Speed:
    """Training steps of the stack itself, with as many of the rows as fit into half a second."""
    context = stack.shape.context
    flops = context * stack.flops_per_token(context)
    some = max(1, min(rows, int(STEP / flops)))
    key = {"engine": asdict(stack.shape), "vocabulary": stack.vocabulary, "rows": some, "precision": str(stack.dtype),
           "machine": processor(), "cores": cores(), "numpy": np.__version__}
    what = f"training steps of the model, {some} × {context} tokens"
    return cached_speed(key, refresh, lambda: Speed(some * flops / _step_seconds(stack, some), what, time.time()))


def _step_seconds(stack: EngineStack, rows: int) -> float:
    """The fastest of a few whole steps: forward, loss, backward, AdamW."""
    size, optimizer = stack.vocabulary, AdamW(stack.parameters())
    ids = np.random.default_rng(0).integers(size, size=(rows, stack.shape.context))

    def step() -> None:
        SoftmaxCrossEntropy()(stack.head(stack(ids)[0]), ids).backward()
        optimizer.step()
        stack.clear()

    return fastest(step)


def _alone(shape: Shape, letter: str) -> EngineStack:
    """A stack of one letter, with a vocabulary of one."""
    return EngineStack(replace(shape, pattern=letter), 1, np.random.default_rng(0))


def _size(module: Any) -> int:
    return sum(each.value.size for each in module.parameters()) if isinstance(module, Module) else 0


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
