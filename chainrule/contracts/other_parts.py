"""Contract of the parts that are not sublayers: norms, dropouts, positions, embeddings, wirings; and of saving."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from safetensors.torch import load, save
from torch import nn

from chainrule.contracts.contract import check, require, require_close
from chainrule.contracts.heads import made as made_head
from chainrule.contracts.steps import CONTEXT, V, require_twin
from chainrule.contracts.streams import STREAMS
from chainrule.contracts.sublayers import CLOSE, DEPTH, HEADS, KINDS, LENGTHS, B, D, T, chosen, inputs, moved, reads
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.recipe.registry import build, find, options, summary
from chainrule.watching import watch

NORMS, DROPOUTS, POSITIONS = "parts/norms", "parts/dropouts", "parts/positions"
EMBEDDINGS, WIRINGS, HEADS_KIND = "parts/embeddings", "parts/wirings", "parts/heads"
POOLINGS = "parts/poolings"
EVERY = (*KINDS, STREAMS, NORMS, DROPOUTS, POSITIONS, EMBEDDINGS, WIRINGS, HEADS_KIND, POOLINGS)
PLACE = Place(D, DEPTH, 0, 23, HEADS, True, V, V)


def made(kind: str, name: str, seed: int = 0) -> Any:
    """A part of any kind, its numbers moved off 0 and 1."""
    if kind == HEADS_KIND:
        return made_head(name).float()
    torch.manual_seed(seed)
    more = (lambda: nn.LayerNorm(D), nn.Identity) if kind == WIRINGS else ()
    place = replace(PLACE, features=getattr(find(kind, name), "small", ())) if kind == EMBEDDINGS else PLACE
    if kind in KINDS:
        return moved(build(*chosen(kind, name), replace(place, causal=reads(kind, name, True))))
    return moved(build(kind, name, place, *more))


def read_by(part: Any) -> torch.Tensor:
    """Inputs for an embedding: tokens, or numbers of the shape that it says by `small` and `example`."""
    if not hasattr(part, "example"):
        return torch.arange(B * T).view(B, T) % V
    zeros, draw = part.example(B, T, "cpu"), torch.Generator().manual_seed(5)
    if zeros.is_floating_point():
        return torch.randn(zeros.shape, generator=draw, dtype=torch.float64)
    return torch.randint(min(V, *part.small), zeros.shape, generator=draw)


@check(*EVERY)
def says_what_it_is(kind: str, name: str) -> None:
    """Its docstring says in a sentence what it is, then how it computes."""
    text = find(kind, name).__doc__ or ""
    require(summary(kind, name)[:1].isupper() and summary(kind, name).endswith("."),
            f"the first line of its docstring is {summary(kind, name)!r}, expected a sentence")
    require(len(text.split("\n\n")) >= 2, "its docstring has one paragraph, expected its equation or source in another")


@check(*EVERY)
def options_have_types(kind: str, name: str) -> None:
    """Every option has a type, and a default unless it must be given."""
    from typing import Any as anything

    for option, found in options(kind, name).items():
        require(found.hint is not anything, f"the option {option} has no annotation")


@check(*EVERY)
def saved_and_loaded(kind: str, name: str) -> None:
    """Loading gives back what was saved, and no buffer is saved."""
    first, second = made(kind, name), made(kind, name, seed=1)
    state = {key: value.contiguous() for key, value in first.state_dict().items()}
    second.load_state_dict(load(save(state)))
    for key, value in second.state_dict().items():
        require(torch.equal(value, first.state_dict()[key]), f"{key} has changed after loading")
    require({key for key, _ in first.named_parameters()} == set(first.state_dict()), "a buffer is saved")


@check(NORMS, DROPOUTS)
def one_position_at_a_time(kind: str, name: str) -> None:
    """It handles each position by itself, and keeps shape and precision."""
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        part, x = made(kind, name).to(dtype).eval(), inputs(dtype)
        y = part(x)
        require(y.shape == x.shape and y.dtype == dtype, f"of {dtype} it makes {y.dtype}, {tuple(y.shape)}")
        if dtype in CLOSE:
            apart = torch.cat([part(x[:, t:t + 1]) for t in range(T)], dim=1)
            require_close(apart, y, "position by position", CLOSE[dtype])


@check(DROPOUTS)
def keeps_the_mean(kind: str, name: str) -> None:
    """In training it sets numbers to 0 and keeps their mean; outside training it does nothing."""
    torch.manual_seed(0)
    dropout, x = build(kind, {"name": name, "rate": 0.4}, PLACE), torch.ones(50, 40, 30)
    y = dropout(x)
    require_close(y.unique(), torch.tensor([0, 1 / 0.6]), "ones after dropout", 1e-5)
    require(abs(y.mean().item() - 1) < 0.06, f"the mean of ones is {y.mean().item():.3f}")
    require(torch.equal(dropout.eval()(x), x), "it changes numbers outside training")


@check(NORMS, WIRINGS, EMBEDDINGS)
def gradients_reach_all(kind: str, name: str) -> None:
    """Gradients reach every parameter."""
    part, x = made(kind, name).double(), inputs().requires_grad_()
    if kind == EMBEDDINGS:
        y = part(read_by(part))
    else:
        y = _through(part, x) if kind == WIRINGS else part(x)
    (y * torch.randn_like(y)).sum().backward()
    for parameter_name, parameter in part.named_parameters():
        require(not parameter.requires_grad or (parameter.grad is not None and bool(parameter.grad.any())),
                f"no gradient reaches {parameter_name}")


def _through(wiring: Any, x: torch.Tensor) -> torch.Tensor:
    """Two sublayers of one wiring, so that one sees what the other has made of the stream."""
    stream = wiring.open(x)
    for _ in range(2):
        stream, _ = wiring(stream, lambda inward: (inward.tanh(), None))
    return wiring.close(stream)


@check(WIRINGS)
def hands_the_state_on(kind: str, name: str) -> None:
    """It returns the sublayer's state unchanged, and its initialization keeps the sublayer's weights finite."""
    wiring, x = made(kind, name), inputs(torch.float32)
    stream = wiring.open(x)
    y, state = wiring(stream, lambda inward: (2 * inward, "after"))
    require(state == "after" and y.shape == stream.shape and wiring.close(y).shape == x.shape,
            "it changes the state or the shape")
    body = build("parts/mixers", "attention", PLACE)
    wiring.initialize(body, PLACE)
    require(all(bool(each.isfinite().all()) for each in body.parameters()), "first weights are not finite")


@check(WIRINGS)
@torch.inference_mode()
def in_a_stack(kind: str, name: str) -> None:
    """In a stack, token by token gives what a whole text gives, watched or not, and padding changes nothing."""
    torch.manual_seed(0)
    stack: Any = moved(Stack(Shape(pattern="(sf)*2", width=D, context=CONTEXT, wiring=name), V)).eval()
    ids = torch.randint(1, V, (B, CONTEXT))
    whole, _ = stack(ids)
    with watch() as seen:
        watched, _ = stack(ids)
    require_close(watched, whole, "hidden states while they are watched", 1e-5)
    shapes = {tuple(seen[f"sublayers.{n}/output"][0].shape) for n in range(4)}
    require(shapes == {tuple(whole.shape)}, f"the watched stream has the shapes {shapes}, expected {(B, CONTEXT, D)}")
    state, found = stack.start(B, CONTEXT), []
    for t in range(CONTEXT):
        hidden, state = stack(ids[:, t:t + 1], state)
        found.append(hidden)
    require_close(torch.cat(found, dim=1), whole, "token by token", 1e-5)
    alone, _ = stack(ids[:1, :5])
    require_close(alone, whole[:1, :5], "a row by itself", 1e-5)


@check(EMBEDDINGS)
def token_by_token(kind: str, name: str) -> None:
    """A token's vector does not depend on its neighbors; what is not a token's, not on other rows."""
    part = made(kind, name).double().eval()
    given = read_by(part)
    whole = part(given)
    require(len(whole) == B and whole.shape[2:] == (D,), f"vectors have the shape {tuple(whole.shape)}, expected "
                                                         f"{(B, T, D)}, or fewer than T")
    require_close(torch.cat([part(row) for row in given.split(1)]), whole, "row by row")
    if not hasattr(part, "example"):
        require(whole.shape[1] == T, f"it makes {whole.shape[1]} vectors of {T} tokens")
        require_close(torch.cat([part(given[:, t:t + 1]) for t in range(T)], dim=1), whole, "token by token")


@check(EMBEDDINGS)
def padding_is_not_embedded(kind: str, name: str) -> None:
    """Where it says how many vectors it makes of so many inputs, these do not depend on the padding behind them."""
    part = made(kind, name).double().eval()
    if not hasattr(part, "lengths") or not hasattr(part, "example"):
        return
    given, lengths = read_by(part), torch.tensor(LENGTHS)
    behind = torch.arange(T) >= lengths[:, None]
    padded = given.masked_fill(behind.view(B, T, *[1] * (given.dim() - 2)), 0)
    whole = part(padded)
    for row, (length, kept) in enumerate(zip(LENGTHS, part.lengths(lengths).tolist(), strict=True)):
        alone = part(given[row:row + 1, :length])
        require(alone.shape[1] == kept, f"of {length} inputs it makes {alone.shape[1]} vectors, and says {kept}")
        require_close(whole[row:row + 1, :kept], alone, f"a row of {length} by itself")


@check(POOLINGS)
def padding_is_not_pooled(kind: str, name: str) -> None:
    """A pooled vector does not depend on padding nor on other rows, and gradients reach what is pooled."""
    pool, x = made(kind, name).double(), inputs().requires_grad_()
    lengths = torch.tensor(LENGTHS)
    y = pool(x, lengths)
    require(y.shape == (B, pool.width), f"the pooled vectors have the shape {tuple(y.shape)}, expected (B, width)")
    for row, length in enumerate(LENGTHS):
        require_close(pool(x[row:row + 1, :length], None), y[row:row + 1], f"a row of {length} by itself")
    (y * torch.randn_like(y)).sum().backward()
    assert x.grad is not None
    for parameter_name, parameter in pool.named_parameters():
        require(parameter.grad is not None and bool(parameter.grad.any()), f"no gradient reaches {parameter_name}")
    for row, length in enumerate(LENGTHS):
        require(not bool(x.grad[row, length:].any()), "a gradient reaches padding")
        require(bool(x.grad[row, :length].any()), "no gradient reaches the vectors of a row")


@check(POSITIONS)
@torch.no_grad()
def where_reading_began(kind: str, name: str) -> None:
    """A position does not depend on where reading started, nor on other rows."""
    place, x = made(kind, name).double(), inputs()
    positions = torch.arange(T)[None]
    heads = x.unflatten(-1, (HEADS, -1)).transpose(1, 2)
    ragged = torch.stack([torch.arange(start, start + 4) for start in (0, 5, 2)])
    whole, turned = place.embed(x, positions), place.turn(heads, positions)
    require_close(place.embed(x[:, 4:], positions[:, 4:]), whole[:, 4:], "embeddings from position 4 on")
    require_close(place.turn(heads[:, :, 4:], positions[:, 4:]), turned[:, :, 4:], "queries from position 4 on")
    for b, own in enumerate(ragged):
        some = torch.stack([each[where] for each, where in zip(x, ragged, strict=True)])
        require_close(place.embed(some, ragged)[b], whole[b, own], f"row {b} beside rows at other positions")
        apart = torch.stack([each[:, where] for each, where in zip(heads, ragged, strict=True)])
        require_close(place.turn(apart, ragged)[b], turned[b, :, own], f"queries of row {b} beside other rows")
    for causal in (True, False):
        bias = place.bias(positions, positions, causal)
        if bias is not None:
            require(bias.shape == (1, HEADS, T, T), f"the bias has the shape {tuple(bias.shape)}")
            later = place.bias(positions[:, 4:7], positions, causal)
            require_close(later, bias[:, :, 4:7], "the bias of later queries")
            apart = place.bias(ragged, positions.expand(B, -1), causal)
            require_close(apart[1], bias[0][:, ragged[1]], "the bias of a row beside rows at other positions")


@check(NORMS, DROPOUTS, POSITIONS, EMBEDDINGS, WIRINGS, HEADS_KIND)
def twin_of_a_part(kind: str, name: str) -> None:
    """If the engine has a twin of it, the twin computes the same."""
    torch.manual_seed(0)
    shape = Shape(pattern="sf", width=16, context=CONTEXT, head="untied")
    slot = kind.rpartition("/")[2].removesuffix("s")
    if kind == EMBEDDINGS and hasattr(find(kind, name), "example"):
        return  # the engine reads tokens
    require_twin(moved(Stack(replace(shape, **{slot: name}), V)).eval())  # type: ignore[arg-type]
