"""Several heads at once: a width taken apart and put together again."""

from __future__ import annotations

from torch import Tensor

from chainrule.errors import OptionError


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, H · E) to (B, H, T, E)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """The reverse."""
    return x.transpose(1, 2).flatten(2)


def check_heads(owner: str, width: int, heads: int, dropout: float) -> None:
    """What every attention mixer asks of its options."""
    if heads < 1 or width % heads:
        raise OptionError(f"{owner}.heads", heads, f"a divisor of width {width}")
    if not 0 <= dropout < 1:
        raise OptionError(f"{owner}.dropout", dropout, "at least 0 and less than 1")
