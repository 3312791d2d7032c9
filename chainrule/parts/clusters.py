"""Clusters of tokens by frequency: what the adaptive softmax and the adaptive input share."""

from __future__ import annotations

from chainrule.errors import OptionError


def cut(size: int, cutoffs: tuple[int, ...] | None, where: str) -> list[int]:
    """Where the clusters of so many tokens end; the frequent ones are before the first bound.

    Without `cutoffs` they are a tenth of all, and there are two clusters: up to four tenths, and the rest. Tokens must
    be numbered by their frequency, as those of `words` are, and of byte pairs nearly so.
    """
    inner = (max(1, size // 10), max(2, 4 * size // 10)) if cutoffs is None else tuple(cutoffs)
    if not inner or list(inner) != sorted({*inner}) or not 0 < inner[0] <= inner[-1] < size:
        raise OptionError(f"{where}.cutoffs", cutoffs, f"numbers that grow, from 1 to {size - 1}")
    return [*inner, size]


def narrowed(width: int, factor: float, cluster: int, where: str) -> int:
    """D / factor^i: the width of the vectors of cluster i, of which 0 are the frequent tokens."""
    if factor < 1:
        raise OptionError(f"{where}.factor", factor, "at least 1", "1 leaves the vectors of rare tokens as wide.")
    return max(1, int(width / factor**cluster))
