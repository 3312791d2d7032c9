"""Parameters and arithmetic of every part, counted on the meta device, where tensors have shapes and no memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.models.cost.meta_device import counts_shapes
from chainrule.models.cost.sizes import Part
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import find


@counts_shapes
def counted(shape: Shape, sizes: Sizes | int, context: int | None = None) -> list[Part]:
    """Every kind of part in a stack with its head, in the order in which a token meets them; a source comes first.

    A multiplication and an addition are two FLOPs. Matrix products and convolutions are counted, by
    `torch.utils.flop_counter` while the parts run; what is done number by number (norms, activations, softmax) is not.
    Causal attention counts as if every position saw the whole context, as in Kaplan et al. 2020, arXiv:2001.08361.
    Sublayers with the same letter are alike, so one of each is run, and one for each length where stream parts change
    the length. On the meta device torch's LSTM and GRU are products like all else; on a CPU they are one operation that
    the counter does not know. A source is taken to have as many tokens as the target, and a token is one of either.
    """
    stack = on_meta(each_letter_once(shape), sizes)
    tokens = context or shape.context
    found: dict[tuple[str, str], Part] = {}
    seen: set[nn.Parameter] = set()
    stacks = [(shape.source, stack.source), (shape, stack)] if shape.source is not None else [(shape, stack)]
    for own_shape, own_stack in stacks:
        made, wired = weights_made(own_shape), wirings_made(own_shape)
        read = own_stack.example(1, tokens, "meta")[0].shape[1] * len(stacks)  # an image has its own number
        for piece, letter, often, run in _pieces(shape, own_shape, own_stack, tokens):
            halves = [(piece.body, made), (piece.wiring, wired)] if letter else [(piece, made)]
            owners = [(*each, copies[letter] or 1) for half, copies in halves if half is not None
                      for each in _parts_of(half)]
            for owner, own, copies in owners:
                fresh = set(own) - seen  # a tied matrix is counted where it is met first
                seen |= fresh
                _add(found, owner, times=often, parameters=copies * sum(each.numel() for each in fresh))
            forward, training = _flops(run)
            training += _further(piece, own_stack, tokens)
            _add(found, owners[0][0], forward=often * forward / read, training=often * training / read)
    return [part for part in found.values() if part.parameters or part.forward]


def parameters(shape: Shape, sizes: Sizes | int) -> int:
    """All of them; a tied matrix once."""
    return sum(part.parameters for part in counted(shape, sizes, context=1))


@counts_shapes
def on_meta(shape: Shape, sizes: Sizes | int) -> Any:
    """The stack, of any size, without memory for its numbers."""
    with torch.device("meta"):
        return Stack(shape, sizes)


def each_letter_once(shape: Shape) -> Shape:
    """The shape with one sublayer of each letter, also of its source, unless all layers of that are looked at."""
    return replace(shape, pattern="".join(dict.fromkeys(shape.letters)), source=shape.source if shape.source is None
                   or looks_at_layers(shape) else each_letter_once(shape.source))


def looks_at_layers(shape: Shape) -> bool:
    """Whether a part is made for the number of layers of the source."""
    return any(getattr(find(shape.kind(letter), shape.part(letter)["name"]), "needs_source_layers", False)
               for letter in dict.fromkeys(shape.letters))


def wirings_made(shape: Shape) -> Counter[str]:
    """How often each letter has a wiring of its own, with its norms."""
    return Counter(letter for letter, _ in {(slot.letter, slot.wiring) for slot in shape.slots})


def weights_made(shape: Shape) -> Counter[str]:
    """How often each letter has weights of its own: less often than it occurs where it shares them."""
    return Counter(letter for letter, _ in {(slot.letter, slot.weights) for slot in shape.slots})


def _pieces(whole: Shape, shape: Shape, stack: Any, tokens: int
            ) -> Iterator[tuple[Any, str, int, Callable[[], Tensor]]]:
    """What a token meets: the module, its letter, how often, and a call that runs it on one row of so many tokens."""
    given, _ = stack.example(1, tokens, "meta")
    x = torch.zeros_like(stack.embedding(given)).requires_grad_()  # of an image more or fewer than it has rows
    source = _source(whole, stack, x, tokens)
    layers = None if stack.source is None else (1 + len(stack.source.letters)) * (source,)
    reading = Reading(stack.shape.causal, position=stack.position, source=source, source_layers=layers)
    reading = reading.from_start(x.shape[1], x.device)
    yield stack.embedding, "", 1, lambda: _differentiable(stack.embedding(given))
    yield stack.position, "", 1, lambda: stack.position.embed(x, reading.positions)
    *met, (_, _, last, _) = _walked(shape, stack, x, reading)
    often = Counter((letter, each.shape[1]) for letter, _, each, _ in met)
    once = {(letter, each.shape[1]): (layer, each, here) for letter, layer, each, here in reversed(met)}
    for (letter, time), times in often.items():
        layer, each, here = once[letter, time]
        yield layer, letter, times, partial(_run, stack, layer, each, here)
    yield stack.norm, "", 1, lambda: stack.norm(last)
    if stack.pooling is not None:
        yield stack.pooling, "", 1, lambda: stack.pooling(last, None)
    if stack.head is not None:
        wide = last if stack.pooling is None else torch.zeros(1, stack.pooling.width, device="meta", requires_grad=True)
        yield stack.head, "", 1, lambda: stack.head.log_probs(wide)


def _walked(shape: Shape, stack: Any, x: Tensor, reading: Reading) -> Iterator[tuple[str, Any, Tensor, Reading]]:
    """Every letter with its layer, and the stream and the reading that it gets: only stream parts change them.

    At last what the norm gets.
    """
    layers = dict(zip(stack.letters, stack.sublayers, strict=True))
    for letter in shape.letters:
        yield letter, layers[letter], x, reading
        if layers[letter].wiring is None:
            with torch.no_grad():
                x, _, _, reading = layers[letter](x, None, None, reading)
            x = torch.zeros_like(x).requires_grad_()
    yield "", None, x, reading


def _run(stack: Any, layer: Any, x: Tensor, reading: Reading) -> Tensor:
    """A sublayer on a stream that is as wide as it reads."""
    own = x if layer.width == x.shape[-1] else x.new_zeros(*x.shape[:-1], layer.width).requires_grad_()
    return _whole(*layer(stack.opened(own), None, None, reading)[:2])


def _source(shape: Shape, stack: Any, x: Tensor, tokens: int) -> Tensor:
    """What cross-attention looks at: as many vectors as the source makes of so many tokens."""
    if stack.source is None or shape.source is None:
        return x
    given = torch.zeros(1, tokens, stack.source.width, device="meta")
    reading = Reading(stack.source.shape.causal, position=stack.source.position).from_start(tokens, given.device)
    *_, (_, _, last, _) = _walked(shape.source, stack.source, given, reading)
    return last.detach()


def _differentiable(y: Tensor) -> Tensor:
    """What has no parameters, such as pixels as they are, is still summed and differentiated."""
    return y if y.requires_grad else y.requires_grad_()


def _whole(x: Tensor, added: Tensor | None) -> Tensor:
    return x if added is None else x + added


def _flops(run: Callable[[], Tensor]) -> tuple[int, int]:
    """Forward, and forward with backward."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False, custom_mapping={torch.ops.aten.convolution_backward: _backward}) as counter:
        y = run()
        forward = counter.get_total_flops()
        y.sum().backward()
    return forward, counter.get_total_flops()


def _backward(y: Sequence[int], x: Sequence[int], weight: Sequence[int], *rest: Any, **more: Any) -> int:
    """FLOPs of a convolution's gradients, from shapes: as forward for each; torch's own count forgets groups."""
    *_, wanted = rest  # which of the gradients of input, weight and bias
    return sum(wanted[:2]) * 2 * prod(y) // y[1] * prod(weight)


def _further(head: Any, stack: Any, tokens: int) -> int:
    """What a head that learns more than it predicts computes besides, forward and backward."""
    if not hasattr(head, "further"):
        return 0
    hidden = torch.zeros(1, tokens, stack.width, device="meta", requires_grad=True)
    return _flops(lambda: head.further(hidden))[1]


def _parts_of(module: nn.Module) -> Iterator[tuple[tuple[str, str], list[nn.Parameter]]]:
    """Kind and name of each part in a module, outermost first, with the parameters that belong to no part inside it."""
    inner = [each for child in module.children() for each in _parts_of(child)]
    own = list(module.parameters(recurse=False))
    own += [each for child in module.children() if _name(child) is None for each in _loose(child)]
    name = _name(module)
    if name is not None:
        yield name, own
    yield from inner


def _loose(module: nn.Module) -> Iterator[nn.Parameter]:
    """Parameters below a module that is no part, down to the next part."""
    yield from module.parameters(recurse=False)
    for child in module.children():
        if _name(child) is None:
            yield from _loose(child)


def _name(module: nn.Module) -> tuple[str, str] | None:
    """("mixer", "attention") of a module that is a part; None of its inner parts, such as a linear map."""
    if "__is_part__" not in vars(type(module)):
        return None
    *_, kind, name = type(module).__module__.split(".")
    return kind.removesuffix("s"), name


def _add(found: dict[tuple[str, str], Part], name: tuple[str, str], **more: float) -> None:
    old = found.setdefault(name, Part(*name))
    found[name] = replace(old, **{key: getattr(old, key) + value for key, value in more.items()})
