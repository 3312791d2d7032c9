"""Measured speed: the fastest of a few tries, cached for a day."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chainrule.storage.verified import cache_folder

REMEMBERED = 24 * 3600  # seconds: other work on the machine, which slows it down, does not last
SECONDS = 1.2  # of measured steps, beside one that is not measured
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Speed:
    """FLOPs per second in training, as `counting` counts them, and what was run to know it."""

    flops: float
    measured: str
    when: float  # seconds since 1970


def fastest(work: Callable[[], Any], wait: Callable[[], Any] = lambda: None) -> float:
    """Seconds of the fastest of a few calls; `wait` returns when the device is idle."""
    best, began = float("inf"), time.perf_counter()
    work()
    while time.perf_counter() - began < SECONDS or best == float("inf"):
        wait()
        start = time.perf_counter()
        work()
        wait()
        best = min(best, time.perf_counter() - start)
    return best


def cached_speed(key: dict[str, Any], refresh: bool, measure: Callable[[], Speed]) -> Speed:
    """The cached measurement for a key; measured if there is none, or with `refresh`."""
    note = cache_folder() / "speed" / f"{hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()}.json"
    found = None if refresh else _read(note)
    if found is None:
        found = measure()
        try:
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(json.dumps(asdict(found)), encoding="utf-8")
        except OSError as error:  # without a cache it is measured each time
            logger.debug("not cached_speed: %s", error)
    return found


def _read(note: Path) -> Speed | None:
    try:
        if time.time() - note.stat().st_mtime > REMEMBERED:
            return None
        return Speed(**json.loads(note.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
