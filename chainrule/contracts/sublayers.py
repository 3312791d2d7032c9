"""Contract of mixers and feedforwards: outputs depend neither on how a text is cut nor on the other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.contracts.contract import check, require, require_close
from chainrule.parts import state as states
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build, find, names
from chainrule.watching import watch

MIXERS, FEEDFORWARDS, ATTENTION = "parts/mixers", "parts/feedforwards", "parts/attention"
KINDS = (MIXERS, FEEDFORWARDS, ATTENTION)
B, T, S, D, DEPTH, CONTEXT, HEADS = 3, 11, 5, 16, 2, 23, 4  # no two sizes alike, but where heads must divide
LENGTHS, SOURCE_LENGTHS = (11, 4, 7), (5, 2, 3)
SOURCE_DEPTH = 3
PIECES = ([1] * T, [2, 3, 1, 5], [7, 1, 1, 1, 1], [1, 10])
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-5}


@dataclass(frozen=True)
class Case:
    """A sublayer with its reading options."""

    body: Any
    reading: Reading

    def __call__(self, x: Tensor, state: Any, reading: Reading | None = None, before: Tensor | None = None
                 ) -> tuple[Tensor, Any]:
        """`before` says how many positions each row has read."""
        current = reading or self.reading
        current = current.from_start(x.shape[1], x.device) if before is None else current.after(before, x.shape[1])
        return self.body(x, state, current)

    def whole(self, x: Tensor, reading: Reading | None = None) -> Tensor:
        return self(x, None, reading)[0]

    def stepped(self, x: Tensor, sizes: list[int], reading: Reading | None = None, room: int = 2
                ) -> tuple[Tensor, Any, Tensor]:
        """The outputs of consecutive pieces, the last state, and how much each row has read."""
        state, found = self.body.start(len(x), room, x), []
        lengths = torch.zeros(len(x), dtype=torch.long)
        for piece in x.split(sizes, dim=1):
            y, state = self(piece, state, reading, lengths)
            found.append(y)
            lengths = lengths + piece.shape[1]
        return torch.cat(found, dim=1), state, lengths

    def row(self, b: int) -> Reading:
        """The reading of one row alone."""
        source, lengths = self.reading.source, self.reading.source_lengths
        assert source is not None and lengths is not None
        return replace(self.reading, lengths=None, source=source[b:b + 1, :lengths[b]], source_lengths=None,
                       source_layers=self.layers(lambda each: each[b:b + 1, :lengths[b]]))

    def rows(self, rows: Tensor) -> Reading:
        """The reading of some rows."""
        assert self.reading.source is not None and self.reading.source_lengths is not None
        return replace(self.reading, source=self.reading.source[rows], source_lengths=self.reading.source_lengths[rows],
                       source_layers=self.layers(lambda each: each[rows]))

    def layers(self, change: Callable[[Tensor], Tensor]) -> tuple[Tensor, ...]:
        """The layers of the source, changed."""
        assert self.reading.source_layers is not None
        return tuple(change(each) for each in self.reading.source_layers)


def cases(kind: str, name: str, *, causal: bool | None = None, dtype: torch.dtype = torch.float64) -> Iterator[Case]:
    """The part as it starts, its zeros moved off zero, for each way of reading that it declares.

    Attention is tried with every kind of positions.
    """
    for way in [True, False] if causal is None else [causal]:
        if not reads(kind, name, way):
            continue
        attends = kind == ATTENTION or name == "attention"
        for position in names("parts/positions") if attends and kind == MIXERS else ["rotary" if attends else "none"]:
            yield case(kind, name, position, causal=way, dtype=dtype)


def reads(kind: str, name: str, causal: bool) -> bool:
    """Whether a part declares that it can read so: `reads = "causal"`, "both ways" or (as usual) "either"."""
    declared = getattr(find(kind, name), "reads", "either")
    require(declared in ("causal", "both ways", "either"),
            f"reads = {declared!r}, expected 'causal', 'both ways' or 'either'")
    return declared == "either" or (declared == "causal") == causal


def case(kind: str, name: str, position: str = "none", *, causal: bool = True, dtype: torch.dtype = torch.float64
         ) -> Case:
    torch.manual_seed(0)
    place = Place(D, DEPTH, 0, CONTEXT, HEADS, causal, 29, 29, source_depth=SOURCE_DEPTH)
    body = moved(build(*chosen(kind, name), place)).to(dtype).eval()
    torch.manual_seed(7)
    where = moved(build("parts/positions", position, place)).to(dtype)
    *layers, source = torch.randn(1 + SOURCE_DEPTH, B, S, D, dtype=dtype)
    return Case(body, Reading(causal, source=source, source_lengths=torch.tensor(SOURCE_LENGTHS),
                              source_layers=(*layers, source), position=where))


def chosen(kind: str, name: str) -> tuple[str, Any]:
    """The sublayer of a part: an attention part stands inside the mixer."""
    if kind != ATTENTION:
        return kind, name
    return MIXERS, {"name": "attention", "heads": HEADS, "attend": small(kind, name)}


def small(kind: str, name: str) -> dict[str, Any]:
    """A part with the options that it gives as `small`: those that it needs to show on a short text what it does."""
    return {"name": name, **getattr(find(kind, name), "small", {})}


def moved(module: nn.Module) -> nn.Module:
    """Moves parameters off 0 and 1, where mistakes would be hidden."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return module


def inputs(dtype: torch.dtype = torch.float64, time: int = T, rows: int = B) -> Tensor:
    torch.manual_seed(1)
    return torch.randn(rows, time, D, dtype=dtype)


def mixes(kind: str, name: str) -> bool:
    """Whether other positions can change an output."""
    return kind != FEEDFORWARDS and getattr(find(kind, name), "mixes_time", True)


@check(*KINDS)
@torch.no_grad()
def piece_by_piece(kind: str, name: str) -> None:
    """Reading piece by piece gives the same as reading all at once."""
    for dtype, tolerance in CLOSE.items():
        for each in cases(kind, name, causal=True, dtype=dtype):
            x = inputs(dtype)
            whole = each.whole(x)
            for sizes in PIECES:
                require_close(each.stepped(x, sizes)[0], whole, f"in pieces of {sizes}", tolerance)


@check(*KINDS)
@torch.no_grad()
def state_of_tensors(kind: str, name: str) -> None:
    """Its state holds only tensors, with the row as their first axis."""
    for each in cases(kind, name, causal=True):
        x = inputs()
        states.check(each.body.start(B, 4, x), B, name)
        states.check(each.stepped(x, [4, 7])[1], B, name)
        states.check(each.body.start(0, 4, x), 0, name)


@check(*KINDS)
@torch.no_grad()
def rows_alone(kind: str, name: str) -> None:
    """Rows of different lengths step as if each were alone."""
    for each in cases(kind, name, causal=True):
        x, lengths = inputs(), torch.tensor(LENGTHS)
        y, _, _ = each.stepped(x, [1] * T, replace(each.reading, lengths=lengths))
        for b, length in enumerate(LENGTHS):
            require_close(y[b, :length], each.whole(x[b:b + 1, :length], each.row(b))[0], f"row {b}")


@check(*KINDS)
@torch.no_grad()
def picked_rows(kind: str, name: str) -> None:
    """Picked rows are independent copies of the state."""
    for each in cases(kind, name, causal=True):
        x = inputs()
        whole = each.whole(x)
        for order in ([2, 0, 2, 1], [0, 1, 2], [1]):
            rows = torch.tensor(order)
            _, state, lengths = each.stepped(x[:, :5], [1] * 5, room=T)
            copies, again = states.pick(state, rows), states.pick(state, rows)
            current = each.rows(rows)
            _, state = each(x[:, 5:8], state, None, lengths)
            _, again = each(x[rows, 5:8], again, current, lengths[rows])
            each(-x[rows, 5:], copies, current, lengths[rows])  # writes into the copies, and must not be seen elsewhere
            require_close(each(x[:, 8:], state, None, lengths + 3)[0], whole[:, 8:], "the state after it was copied")
            require_close(each(x[rows, 8:], again, current, lengths[rows] + 3)[0], whole[rows, 8:], f"rows {order}")


@check(*KINDS)
@torch.no_grad()
def joined_rows(kind: str, name: str) -> None:
    """Rows that have read different numbers of tokens can be joined, and each continues as if alone."""
    for each in cases(kind, name, causal=True):
        x = inputs()
        lengths = torch.tensor([3, 1, 7])
        alone = [each.whole(x[b:b + 1, :length + 4], each.row(b)) for b, length in enumerate(lengths.tolist())]
        parts = []
        for b, length in enumerate(lengths.tolist()):
            single = Case(each.body, each.rows(torch.tensor([b])))
            parts.append(single.stepped(x[b:b + 1, :length], [1] * length, room=2 + b)[1])
        state = states.join(parts)
        for ahead in range(4):
            at = lengths + ahead
            piece = torch.stack([x[b, at[b]:at[b] + 1] for b in range(B)])
            y, state = each(piece, state, None, at)
            for b in range(B):
                require_close(y[b, 0], alone[b][0, at[b]], f"row {b}, {ahead + 1} after the rows were joined")


@check(*KINDS)
@torch.no_grad()
def causal_reading(kind: str, name: str) -> None:
    """Where it reads from left to right, a later input never changes an earlier output."""
    for each in cases(kind, name, causal=True):
        x = inputs()
        before = each.whole(x)
        for t in range(1, T):
            changed = x.clone()
            changed[:, t:] += torch.randn(B, T - t, D, dtype=x.dtype)
            after = each.whole(changed)
            require_close(after[:, :t], before[:, :t], f"outputs before an input that changed at position {t}")
            require(not torch.allclose(after[:, t], before[:, t]), f"the output at {t} does not depend on its input")


@check(*KINDS)
@torch.no_grad()
def reading_both_ways(kind: str, name: str) -> None:
    """Where it reads both ways, it sees what follows."""
    if not mixes(kind, name):
        return
    for each in cases(kind, name, causal=False):
        x = inputs()
        changed = x.clone()
        changed[:, 6] += 1
        moved_by = (each.whole(changed) - each.whole(x)).abs().amax(-1)
        require(bool((moved_by[:, 5] > 1e-9).all()), "the output at 5 does not depend on the input at 6")


@check(*KINDS)
@torch.no_grad()
def padding(kind: str, name: str) -> None:
    """Padding never changes a real position."""
    lengths = torch.tensor(LENGTHS)
    behind = torch.arange(T) >= lengths[:, None]
    for each in cases(kind, name):
        x, current = inputs(), replace(each.reading, lengths=lengths)
        y = each.whole(x, current)
        other = each.whole(x.masked_fill(behind[:, :, None], 1e3), current)
        require_close(other[~behind], y[~behind], "real positions beside other padding")
        for b, length in enumerate(LENGTHS):
            require_close(y[b, :length], each.whole(x[b:b + 1, :length], each.row(b))[0], f"row {b} without padding")


@check(*KINDS)
def nothing_to_read(kind: str, name: str) -> None:
    """Empty rows and empty batches work."""
    for each in cases(kind, name):
        x = inputs().requires_grad_()
        current = replace(each.reading, lengths=torch.tensor([11, 0, 7]), source_lengths=torch.tensor([5, 0, 3]))
        y = each.whole(x, current)
        with watch():
            watched = each.whole(x, current)
        (y + watched).sum().backward()
        require(bool(y.isfinite().all() and watched.isfinite().all() and x.grad.isfinite().all()),  # type: ignore[union-attr]
                "a row without real positions gives NaN")
        no_rows = replace(each.reading, source=torch.zeros(0, S, D, dtype=x.dtype), source_lengths=None,
                          source_layers=each.layers(lambda layer: layer[:0]))
        require(each.whole(x[:0], no_rows).shape == (0, T, D), "a batch without rows has no rows afterwards")


@check(*KINDS)
@torch.no_grad()
def watching(kind: str, name: str) -> None:
    """Watching changes no output, and a mixer notes something."""
    for each in cases(kind, name):
        x = inputs()
        for current in (each.reading, replace(each.reading, lengths=torch.tensor(LENGTHS))):
            with watch() as seen:
                watched = each.whole(x, current)
            require(bool(seen) or kind == FEEDFORWARDS, "nothing is noted: note(name, value) shows what it computes")
            rows = {len(value) for values in seen.values() for value in values if torch.is_tensor(value)}
            require(rows <= {B}, "the first axis of a noted tensor is not the rows")
            real = current.real(T)
            kept = torch.ones(B, T, dtype=torch.bool) if real is None else real  # of padding anything may be made
            require_close(watched[kept], each.whole(x, current)[kept], "outputs while it is watched")
        if each.reading.causal:
            with watch():
                stepped = each.stepped(x, [1, 3, 7])[0]
            require_close(stepped, each.whole(x), "steps while they are watched")


@check(*KINDS)
def gradients(kind: str, name: str) -> None:
    """Gradients reach every parameter and the input."""
    for each in cases(kind, name):
        x = inputs().requires_grad_()
        current = each.reading.from_start(T, x.device)
        y = each.body(each.reading.position.embed(x, current.positions), None, current)[0]
        (y * torch.randn_like(y)).sum().backward()
        named = [*each.body.named_parameters(), *each.reading.position.named_parameters(), ("the input", x)]
        for parameter_name, parameter in named:
            grad = parameter.grad
            require(grad is not None and bool(grad.isfinite().all()) and bool(grad.any()),
                    f"no gradient reaches {parameter_name}")


@check(*KINDS)
def detached_state(kind: str, name: str) -> None:
    """A detached state keeps its values and cuts history."""
    for each in cases(kind, name, causal=True):
        x = inputs()
        whole = each.whole(x)
        _, state = each(x[:, :5], each.body.start(B, T, x), None, torch.zeros(B, dtype=torch.long))
        y, _ = each(x[:, 5:], states.detach(state), None, torch.full((B,), 5))
        require_close(y, whole[:, 5:], "after a detached state")
        y.sum().backward()


@check(*KINDS)
def precision(kind: str, name: str) -> None:
    """It computes in the precision that it is given, also in mixed precision."""
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        for each in cases(kind, name, causal=True, dtype=dtype):
            x = inputs(dtype)
            y = each.whole(x)
            y.sum().backward()
            steps = each.stepped(x, [4, 7])[0]
            require(y.dtype == steps.dtype == dtype and bool(y.isfinite().all()), f"of {dtype} it makes {y.dtype}")
    for each in cases(kind, name, causal=True, dtype=torch.float32):
        x = inputs(torch.float32)
        with torch.autocast("cpu", torch.bfloat16):
            y, steps = each.whole(x), each.stepped(x, [4, 7])[0]
        require_close(y.float(), each.whole(x), "in mixed precision", 0.1)
        require_close(steps.float(), y.float(), "steps in mixed precision", 0.1)
        y.float().sum().backward()


@check(*KINDS)
def without_numbers(kind: str, name: str) -> None:
    """It can be built and run on the meta device, for `chainrule cost`."""
    for way in (True, False):
        if reads(kind, name, way):
            place = Place(D, DEPTH, 0, CONTEXT, HEADS, way)
            with torch.device("meta"):
                body, x = build(*chosen(kind, name), place), torch.zeros(B, T, D, requires_grad=True)
                position = build("parts/positions", "rotary", place)
                reading = Reading(way, source=x, source_layers=(x,), position=position).from_start(T, x.device)
                y = body(x, None, reading)[0]
                y.sum().backward()  # as it is counted
            require(y.is_meta and y.shape == x.shape, f"of {tuple(x.shape)} it makes {tuple(y.shape)}")
