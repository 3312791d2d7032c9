"""A sum and its norm: two operations, or one kernel in the recorded steps of a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch
from torch import Tensor

_RECORDING: ContextVar[bool] = ContextVar("recording", default=False)
WIDEST = 16_384  # numbers of a row that one program of the kernel holds


class Terms(NamedTuple):
    """What a norm multiplies and adds: a norm that has them can be computed by the kernel."""

    gain: Tensor
    bias: Tensor | None
    epsilon: float
    centered: bool  # whether the mean is taken off first


def summed(norm: Any, x: Tensor, added: Tensor | None) -> tuple[Tensor, Tensor]:
    """x + added, and the norm of that."""
    if added is None:
        return x, norm(x)
    if _fuses(norm, x, added):
        return fused(norm.terms(), x, added)
    x = x + added
    return x, norm(x)


@contextmanager
def recording() -> Iterator[None]:
    """While a CUDA graph is recorded: alone, the kernel takes longer to start than the two operations take."""
    before = _RECORDING.set(True)
    try:
        yield
    finally:
        _RECORDING.reset(before)


def _fuses(norm: Any, x: Tensor, added: Tensor) -> bool:
    return (not torch.compiler.is_compiling() and _RECORDING.get() and x.shape[-2] == 1 and x.is_cuda
            and not torch.is_grad_enabled() and hasattr(norm, "terms") and x.shape[-1] <= WIDEST
            and x.dtype == added.dtype == norm.terms().gain.dtype != torch.float64 and has_triton())


def fused(terms: Terms, x: Tensor, added: Tensor) -> tuple[Tensor, Tensor]:
    """The same by the kernel."""
    from chainrule.kernels.add_norm import add_norm

    x, added = x.contiguous(), added.contiguous()
    total, normed, width = torch.empty_like(x), torch.empty_like(x), x.shape[-1]
    block = 1 << (width - 1).bit_length()
    add_norm[(x.numel() // width,)](
        x, added, terms.gain, terms.gain if terms.bias is None else terms.bias, total, normed, width, terms.epsilon,
        centered=terms.centered, biased=terms.bias is not None, block=block, num_warps=max(1, min(8, block // 256)))
    return total, normed


@cache
def has_triton() -> bool:
    return find_spec("triton") is not None
