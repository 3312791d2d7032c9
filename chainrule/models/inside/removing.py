"""A stack without one of its sublayers or heads, for as long as a block lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def without_sublayer(stack: Any, n: int) -> Iterator[None]:
    """The sublayer's output is 0: with a skip, the stream passes as if it were not there.

    Sublayers that share weights are removed together.
    """
    def silent(body: Any, given: Any, found: tuple[Any, Any]) -> tuple[Any, Any]:
        return torch.zeros_like(found[0]), found[1]

    hook = stack.sublayers[n].body.register_forward_hook(silent)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def without_head(stack: Any, n: int, head: int) -> Iterator[None]:
    """What one head of an attention sublayer gives the stream is 0. Michel, Levy & Neubig 2019, arXiv:1905.10650, §3.

    The columns of W_o that read the head are 0 meanwhile, which needs no other path through the code.
    """
    weight = stack.sublayers[n].body.outward.weight
    width = weight.shape[1] // heads_of(stack, n)
    columns = slice(head * width, (head + 1) * width)
    kept = weight.detach()[:, columns].clone()
    try:
        with torch.no_grad():
            weight[:, columns] = 0
        yield
    finally:
        with torch.no_grad():
            weight[:, columns] = kept


def heads_of(stack: Any, n: int) -> int:
    """How many heads a sublayer has that can be removed one by one; 0 where it has none."""
    body = stack.sublayers[n].body
    heads, weight = getattr(body, "heads", 0), getattr(getattr(body, "outward", None), "weight", None)
    return heads if heads and weight is not None and weight.shape[1] % heads == 0 else 0


def removable(stack: Any) -> list[int]:
    """The sublayers in a wiring; parts that change the stream itself are no sublayers."""
    return [n for n, layer in enumerate(stack.sublayers) if layer.wiring is not None]
