"""Recording values inside a model: parts `note` what they compute, `with watch() as seen:` collects it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

Seen = dict[str, list[Any]]
_watchers: ContextVar[tuple[Seen, ...]] = ContextVar("watchers", default=())
_place: ContextVar[str] = ContextVar("place", default="")
_blocks = 0  # open blocks of all threads; checked first: a compiler can guard a number but not a context variable
_counting = Lock()


def note(name: str, value: Any) -> None:
    """Records a value in every open `watch` block; costs one look-up when there is none."""
    if not watched():
        return
    for seen in _watchers.get():
        seen.setdefault(_place.get() + name, []).append(value)


def placed(place: str, call: Callable[..., Any], *given: Any) -> Any:
    """`call(*given)`, with the place as a prefix of all names that it notes: `sublayers.3/attention`."""
    if not watched():
        return call(*given)
    token = _place.set(f"{_place.get()}{place}/")
    try:
        return call(*given)
    finally:
        _place.reset(token)


def watched() -> bool:
    """Whether a `watch` block is open: then fused kernels, which cannot note values, are not used."""
    return _blocks > 0 and bool(_watchers.get())


@contextmanager
def watch() -> Iterator[Seen]:
    """Collects everything noted inside the block, by name, in order; blocks may be nested, each collects its own."""
    global _blocks
    seen: Seen = {}
    token = _watchers.set((*_watchers.get(), seen))
    with _counting:
        _blocks += 1
    try:
        yield seen
    finally:
        with _counting:
            _blocks -= 1
        _watchers.reset(token)
