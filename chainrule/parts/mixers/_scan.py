"""A linear recurrence over time without a loop over every token: what the newer recurrent mixers are made of."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from chainrule.parts.linear import Linear
from chainrule.parts.mixers._recurrent import Cell, Hidden
from chainrule.watching import note, watched

SMALL = {"cpu": 1 << 12, "cuda": 1 << 20}  # numbers of a token, in all rows: with fewer, starting a step is what costs


def scan(a: Tensor, b: Tensor, first: Tensor) -> Tensor:
    """(B, T, D): h_t = a_t ⊙ h_{t−1} + b_t for all t, with h_0 = `first` (B, D).

    Nothing is divided by, nor taken the logarithm of: it is as exact as the loop, for every a. Where each step is small
    the text is cut into about √T stretches that are read side by side, and what each is told by those before it is
    added afterwards (Blelloch 1990, "Prefix sums and their applications", §1.3): 2 √T steps in the place of T, with
    two and a half times the arithmetic. While it is watched it goes by steps, each in the graph by itself.
    """
    if a.shape[1] <= 1 or watched():
        steps = _by_steps(a, b, first)
        note("steps", steps)
        return torch.stack(steps, dim=1) if steps else b
    return torch.ops.chainrule.scan(a, b, first) if torch.compiler.is_compiling() else _Scan.apply(a, b, first)


def exact(x: Tensor) -> Tensor:
    """In float32 at least: a gate that keeps 0.999 would be 1 in bfloat16, and errors would add up over time."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def positive(x: Tensor) -> Tensor:
    """g(x) = x + ½ where x ≥ 0, otherwise σ(x): Feng et al. 2024, arXiv:2410.01201, appendix B."""
    return torch.where(x >= 0, x + 0.5, x.sigmoid())


def _by_steps(a: Tensor, b: Tensor, first: Tensor) -> tuple[Tensor, ...]:
    h, found = first, []
    for a_t, b_t in zip(a.unbind(1), b.unbind(1), strict=True):
        h = a_t * h + b_t
        found.append(h)
    return tuple(found)


def _gradients(a: Tensor, h: Tensor, first: Tensor, dh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of a, b and `first`, from dh (B, T, D):   db_t = dh_t + a_{t+1} ⊙ db_{t+1},   da_t = db_t ⊙ h_{t−1}."""
    ahead = torch.cat([a[:, 1:], torch.zeros_like(a[:, :1])], dim=1)
    db = _swept(ahead, dh, torch.zeros_like(first), torch.empty_like(h), backward=True)
    da = torch.empty_like(h)
    torch.mul(db[:, 1:], h[:, :-1], out=da[:, 1:])
    torch.mul(db[:, :1], first[:, None], out=da[:, :1])
    return da, db, a[:, 0] * db[:, 0]


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
    a, _, first = inputs
    ctx.save_for_backward(a, output, first)


class _Scan(torch.autograd.Function):
    """The scan with its gradient."""

    setup_context = staticmethod(_keep)

    @staticmethod
    def forward(a: Tensor, b: Tensor, first: Tensor) -> Tensor:
        return _swept(a, b, first, torch.empty_like(b), backward=False)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a, h, first = ctx.saved_tensors
        return _gradients(a, h, first, grads[0])


@torch.library.custom_op("chainrule::scan", mutates_args=())
def _compiled(a: Tensor, b: Tensor, first: Tensor) -> Tensor:
    """The same as one operation for `torch.compile`, which would unroll the loop. Its first use takes 1.6 s."""
    return _swept(a, b, first, torch.empty_like(b), backward=False)


@torch.library.custom_op("chainrule::scan_gradients", mutates_args=())
def _compiled_gradients(a: Tensor, h: Tensor, first: Tensor, dh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return _gradients(a, h, first, dh)


@_compiled.register_fake
def _(a: Tensor, b: Tensor, first: Tensor) -> Tensor:
    return torch.empty_like(b)


@_compiled_gradients.register_fake
def _(a: Tensor, h: Tensor, first: Tensor, dh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.empty_like(h), torch.empty_like(h), torch.empty_like(first)


def _back(ctx: Any, dh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    a, h, first = ctx.saved_tensors
    return torch.ops.chainrule.scan_gradients(a, h, first, dh)


_compiled.register_autograd(_back, setup_context=_keep)


def _swept(a: Tensor, b: Tensor, first: Tensor, out: Tensor, *, backward: bool) -> Tensor:
    """h_t = a_t ⊙ h_{t−1} + b_t, or h_t = a_t ⊙ h_{t+1} + b_t where it goes backward from `first`."""
    time = a.shape[1]
    if a.is_meta:
        return out
    if time < 16 or first.numel() > SMALL.get(a.device.type, 0):
        return _loop(a, b, first, out, backward=backward)
    size = math.isqrt(time)
    cut = time - time % size  # what is left is a stretch of its own, and the last that is read
    some = slice(time - cut, time) if backward else slice(0, cut)
    rest = slice(0, time - cut) if backward else slice(cut, time)
    a_cut, b_cut, out_cut = (each[:, some].unflatten(1, (-1, size)) for each in (a, b, out))
    last = _stretches(a_cut, b_cut, first, out_cut, backward=backward)
    _loop(a[:, rest], b[:, rest], last, out[:, rest], backward=backward)
    return out


def _loop(a: Tensor, b: Tensor, first: Tensor, out: Tensor, *, backward: bool) -> Tensor:
    """Step by step along axis 1, into `out`."""
    before = first
    for t in _order(a.shape[1], backward):
        before = torch.addcmul(b[:, t], a[:, t], before, out=out[:, t])
    return out


def _stretches(a: Tensor, b: Tensor, first: Tensor, out: Tensor, *, backward: bool) -> Tensor:
    """The same for (B, stretches, size, D), into `out`; what the last stretch ends with."""
    kept = torch.empty_like(out)  # the product of a so far in each stretch: what is left of what came before it
    h = out[:, :, 0].new_zeros(()).expand_as(out[:, :, 0])
    share = h + 1
    for t in _order(a.shape[2], backward):
        h = torch.addcmul(b[:, :, t], a[:, :, t], h, out=out[:, :, t])
        share = torch.mul(a[:, :, t], share, out=kept[:, :, t])
    told = torch.empty_like(h)  # what each stretch begins with
    before = first
    for n in _order(a.shape[1], backward):
        told[:, n] = before
        before = torch.addcmul(h[:, n], share[:, n], before)
    out.addcmul_(kept, told[:, :, None])
    return before


def _order(count: int, backward: bool) -> range:
    return range(count - 1, -1, -1) if backward else range(count)


class LinearCell(Cell):
    """A recurrence whose gates do not look at the state: h_t = a_t ⊙ h_{t−1} + b_t, for all tokens at once.

    A cell has a linear map `inward` of its inputs, and says which `terms` follow from that.
    """

    inward: Linear

    def terms(self, z: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """a and b of (B, T, …) projected inputs, and gates by name."""
        raise NotImplementedError

    def start(self, batch: int, like: Tensor) -> Hidden:
        return Hidden(exact(like.new_zeros(batch, self.hidden)))

    def forward(self, x: Tensor, state: Hidden) -> tuple[Tensor, dict[str, Tensor], Hidden]:
        a, b, gates = self.terms(exact(self.inward(x)))
        h = scan(a, b, state.h.to(b.dtype))
        return h.to(x.dtype), {"hidden": h, **gates} if watched() else {}, Hidden(h[:, -1]) if x.shape[1] else state
