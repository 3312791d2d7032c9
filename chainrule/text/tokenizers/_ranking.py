"""Which tokens a vocabulary keeps, and in what order."""

from __future__ import annotations

import logging

import numpy as np

from chainrule.errors import OptionError

MOST = 2**31 - 1  # ids are 32-bit numbers
log = logging.getLogger("chainrule")


def check(where: str, *, specials: int, min_count: int, size: int | None, most: int = MOST) -> None:
    """Refuses options that would leave no token, or more than can be numbered or learned."""
    if min_count < 1:
        raise OptionError(f"{where}.min_count", min_count, "at least 1", "1 keeps every token.")
    if size is not None and size <= specials:
        raise OptionError(f"{where}.size", size, f"more than {specials}", f"{specials} tokens are always in it.")
    if size is not None and size > most:
        raise OptionError(f"{where}.size", size, f"at most {most:,}", "Few models have more than 262,144.")


def ranked(counts: np.ndarray, by_spelling: np.ndarray, min_count: int, room: int | None) -> np.ndarray:
    """Indices by descending count, ties by spelling, so that a vocabulary does not depend on the order of the text.

    `by_spelling` lists the indices in the order of their spellings.
    """
    if len(counts) and counts.max() < min_count:
        log.info(f"no token occurs {min_count:,} times, as tokenizer.min_count asks: none has a token of its own.")
    best = by_spelling[np.argsort(-counts[by_spelling], kind="stable")]
    return best[: int((counts >= min_count).sum())][:room]
