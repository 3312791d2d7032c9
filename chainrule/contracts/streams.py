"""Contract of stream parts: what they make depends neither on how a text is cut nor on padding or other rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from chainrule.contracts.contract import check, require, require_close
from chainrule.contracts.sublayers import CLOSE, CONTEXT, DEPTH, HEADS, LENGTHS, B, D, T, inputs, moved, reads
from chainrule.parts import state as states
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build, find
from chainrule.watching import watch

STREAMS = "parts/streams"
TIMES = 3  # how often the part has its turn in a pass


def cases(name: str, dtype: torch.dtype = torch.float64) -> Iterator[tuple[Any, Reading]]:
    """The part and its reading, for each way of reading that it declares; `upsample` follows a pooling."""
    for causal in (True, False):
        if reads(STREAMS, name, causal):
            torch.manual_seed(0)
            part = moved(build(STREAMS, name, Place(D, DEPTH, 0, CONTEXT, HEADS, causal, times=TIMES)))
            yield part.to(dtype).eval(), Reading(causal)


def passed(part: Any, x: Tensor, reading: Reading, before: Tensor | None = None) -> tuple[Tensor, Reading]:
    """The stream after all turns of a part, with a sublayer between two of them; shorter ones follow a pooling."""
    here = reading.from_start(x.shape[1], x.device) if before is None else reading.after(before, x.shape[1])
    if restores(part):
        x, _, here = build(STREAMS, "pool", Place(D))(x, None, here)
        return part(x.tanh(), None, here)[::2]
    for _ in range(TIMES):
        x, _, here = part(x.tanh(), None, here)
    return x, here


def restores(part: Any) -> bool:
    return part.lengths(1, T) == T


@check(STREAMS)
@torch.no_grad()
def stream_piece_by_piece(kind: str, name: str) -> None:
    """Where it reads from left to right, reading piece by piece gives the same as reading all at once."""
    for dtype, tolerance in CLOSE.items():
        for part, reading in cases(name, dtype):
            if not reading.causal:
                continue
            x, before, found = inputs(dtype), torch.zeros(B, dtype=torch.long), []
            states.check(part.start(B, 4, x), B, name)
            for piece in x.split([1, 3, 7], dim=1):
                found.append(passed(part, piece, reading, before)[0])
                before = before + piece.shape[1]
            require_close(torch.cat(found, dim=1), passed(part, x, reading)[0], "in pieces", tolerance)


@check(STREAMS)
@torch.no_grad()
def stream_lengths(kind: str, name: str) -> None:
    """It makes as many vectors as it says, and padding and other rows never change a real one."""
    for part, reading in cases(name):
        x, lengths = inputs(), torch.tensor(LENGTHS)
        y, after = passed(part, x, replace(reading, lengths=lengths))
        kept = lengths
        for _ in range(TIMES):
            kept = part.lengths(kept, lengths)
        require(after.lengths is not None and after.lengths.tolist() == kept.tolist(),
                f"the reading has rows of {after.lengths}, and it says {kept}")
        require(after.positions is not None and after.positions.shape[1] == y.shape[1], "vectors without positions")
        for row, length in enumerate(LENGTHS):
            alone, _ = passed(part, x[row:row + 1, :length], reading)
            require(alone.shape[1] == kept[row], f"of {length} it makes {alone.shape[1]}, and says {kept[row]}")
            require_close(y[row:row + 1, :alone.shape[1]], alone, f"a row of {length} by itself")
        require(passed(part, x[:0], reading)[0].shape == (0, *y.shape[1:]), "an empty batch has rows afterwards")


@check(STREAMS)
def stream_gradients(kind: str, name: str) -> None:
    """Gradients reach every parameter and the input, and watching changes no output."""
    for part, reading in cases(name):
        x = inputs().requires_grad_()
        y, _ = passed(part, x, reading)
        with watch() as seen:
            require_close(passed(part, x, reading)[0], y, "while it is watched")
        require(bool(seen), "nothing is noted: note(name, value) shows what it computes")
        (y * torch.randn_like(y)).sum().backward()
        for parameter_name, parameter in [*part.named_parameters(), ("the input", x)]:
            require(parameter.grad is not None and bool(parameter.grad.isfinite().all() and parameter.grad.any()),
                    f"no gradient reaches {parameter_name}")


@check(STREAMS)
def stream_precision(kind: str, name: str) -> None:
    """It keeps the precision that it is given, and runs on the meta device, for `chainrule cost`."""
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        for part, reading in cases(name, dtype):
            require(passed(part, inputs(dtype), reading)[0].dtype == dtype, f"of {dtype} it makes another type")
    for causal in (True, False):
        if reads(STREAMS, name, causal):
            with torch.device("meta"):
                part = build(STREAMS, name, Place(D, DEPTH, 0, CONTEXT, HEADS, causal, times=TIMES))
                y, _ = passed(part, torch.zeros(B, T, D), Reading(causal))
            require(y.is_meta and y.shape[::2] == (B, D), f"of {(B, T, D)} it makes {tuple(y.shape)}")


@check(STREAMS)
def stream_methods(kind: str, name: str) -> None:
    """It is a StreamPart, so a stack knows that it has no wiring."""
    from chainrule.parts.streams._stream import StreamPart

    found: Any = find(kind, name)
    require(issubclass(found, StreamPart), f"{found.__name__} is no StreamPart")
