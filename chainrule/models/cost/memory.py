"""Memory that training and decoding need, found by running the model on the meta device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from chainrule.models.cost.counting import (
    each_letter_once,
    looks_at_layers,
    on_meta,
    parameters,
    weights_made,
    wirings_made,
)
from chainrule.models.cost.meta_device import counts_shapes
from chainrule.models.cost.sizes import DecodingMemory, TrainingMemory
from chainrule.models.shape import STREAMS, Shape
from chainrule.models.sizes import Sizes
from chainrule.parts.state import leaves


@counts_shapes
def training_memory(shape: Shape, sizes: Sizes | int, tokens: tuple[int, int], *,
                    optimizer: Callable[[Any], Any] = torch.optim.AdamW, logits: int = 1 << 24,
                    precision: torch.dtype = torch.float32, average: bool = False) -> TrainingMemory:
    """For micro-batches of (rows, tokens), so many logits at once, and an optimizer made from named parameters.

    Weights and optimizer are float32 or float64; other precisions are those of autocast.
    It is taken as activations in its precision and one copy of the weights in it; what autocast leaves in float32
    (norms, softmax) makes the truth a little larger.
    """
    size = 8 if precision == torch.float64 else 4
    weights = size * parameters(shape, sizes)
    state = size // 4 * _extended(shape, sizes, lambda some: _optimizer_bytes(on_meta(some, sizes), optimizer),
                                  weights_made)
    kept = activations(shape, sizes, tokens, precision)
    copy = 0 if precision in (torch.float32, torch.float64) else weights // 4 * precision.itemsize
    at_once = min(logits, tokens[0] * tokens[1] * Sizes.of(sizes).outputs)
    return TrainingMemory(weights, weights, state, kept + copy, 3 * size * at_once, weights if average else 0)


@counts_shapes
def activations(shape: Shape, sizes: Sizes | int, tokens: tuple[int, int],
                precision: torch.dtype = torch.float32) -> int:
    """Bytes that the forward pass of a stack keeps for its backward pass, each storage once, without the weights.

    Exact on a CPU but for torch's LSTM there: oneDNN keeps about twice what the equations need.
    """
    def kept(some: Shape) -> int:
        with _FusedAttention():
            stack = on_meta(some, sizes).to(precision)
            inputs, given = stack.example(*tokens, "meta")
            return kept_bytes(stack, inputs.to(precision) if inputs.is_floating_point() else inputs, given)

    return _extended(shape, sizes, kept, lambda some: Counter(some.letters))


def kept_bytes(stack: Any, inputs: Tensor, given: Any = None) -> int:
    """The same for an existing stack on any device: what autograd saves."""
    own = {_key(each) for each in stack.parameters()}
    kept: dict[int, Tensor] = {}

    def pack(tensor: Tensor) -> Tensor:
        kept.setdefault(_key(tensor), tensor)  # kept alive, so that no later storage gets its address
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        stack(inputs, given=given)
    return sum(each.untyped_storage().nbytes() for key, each in kept.items() if key not in own)


@counts_shapes
def decoding_memory(shape: Shape, sizes: Sizes | int) -> DecodingMemory:
    """What `Stack.start` sets aside for one row in float32."""
    times = Counter(shape.letters)
    stack = on_meta(each_letter_once(shape), sizes)
    fixed = grows = 0
    like = next(stack.parameters())
    for layer, often in zip(stack.sublayers, times.values(), strict=True):
        one, two = (sum(each.nbytes for each in leaves(layer.body.start(1, room, like)) if each.is_floating_point())
                    for room in (1, 2))
        fixed, grows = fixed + often * (2 * one - two), grows + often * (two - one)
    return DecodingMemory(fixed, grows)


def _extended(shape: Shape, sizes: Sizes | int, measure: Callable[[Shape], int],
              times: Callable[[Shape], Counter[str]]) -> int:
    """`measure` of a shape, computed from a stack with each letter once and the increment of one more of each.

    Where sublayers of a letter are not alike, the whole shape is measured.
    """
    once = each_letter_once(shape)
    alike = _alike(shape) and (shape.source is None or _alike(shape.source)) and not looks_at_layers(shape)
    if not (alike and _one_width(on_meta(once, sizes))):
        return measure(shape)
    base = measure(once)
    more = [(count, replace(once, pattern=once.pattern + letter)) for letter, count in times(shape).items()]
    if shape.source is not None and once.source is not None:
        inner = once.source
        more += [(count, replace(once, source=replace(inner, pattern=inner.pattern + letter)))
                 for letter, count in times(shape.source).items()]
    return base + sum((count - 1) * (measure(longer) - base) for count, longer in more if count > 1)


def _alike(shape: Shape) -> bool:
    """Whether each sublayer adds what any other of its letter adds: not where only the body is shared, nor where stream
    parts change the length."""
    return weights_made(shape) == wirings_made(shape) and STREAMS not in map(shape.kind, shape.letters)


def _one_width(stack: Any) -> bool:
    """Whether all sublayers read what is as wide as a token, so that any may follow any."""
    return all(layer.width == stack.width for layer in stack.sublayers) and (stack.source is None or
                                                                             _one_width(stack.source))


def _optimizer_bytes(stack: Any, make: Callable[[Any], Any]) -> int:
    """Bytes that an optimizer keeps once it has stepped."""
    for each in stack.parameters():
        each.grad = torch.zeros_like(each)
    stepper = make(list(stack.named_parameters()))
    stepper.step()
    states = [dict(each.state) for each in getattr(stepper, "parts", [stepper])]  # Muon is two optimizers
    return sum(each.nbytes for each in _tensors(states) if each.dim())


def _tensors(state: Any) -> Iterator[Tensor]:
    if isinstance(state, Tensor):
        yield state
    elif isinstance(state, dict):
        for item in state.values():
            yield from _tensors(item)
    elif isinstance(state, tuple | list):
        for item in state:
            yield from _tensors(item)


def _key(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata


class _FusedAttention(TorchFunctionMode):
    """The meta device has attention in its plain form, which keeps all weights; fused kernels keep none."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is F.scaled_dot_product_attention:
            return _Fused.apply(*args[:3], (kwargs or {}).get("attn_mask"))
        return func(*args, **(kwargs or {}))


class _Fused(torch.autograd.Function):
    """Keeps queries, keys, values, the result and one number for each query, as FlashAttention does."""

    @staticmethod
    def forward(context: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        log_sum = torch.empty(q.shape[:-1], device=q.device)
        y = torch.empty_like(q) if q.shape[-1] == v.shape[-1] else q.new_empty(*q.shape[:-1], v.shape[-1])
        context.save_for_backward(q, k, v, y, log_sum, *(() if mask is None else (mask,)))
        return y
