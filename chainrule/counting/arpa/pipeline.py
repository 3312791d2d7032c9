"""Pieces of one file worked on by all cores and handed on in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from chainrule.threads import cores

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_order(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """work(piece) for every piece, results in the order of the pieces; only a few wait at any time."""
    with ThreadPoolExecutor(cores()) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for piece in pieces:
                waiting.append(pool.submit(work, piece))
                if len(waiting) > cores():
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
