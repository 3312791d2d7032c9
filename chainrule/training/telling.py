"""Who listens to a training, and what it is known by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chainrule.training.journal import Show
from chainrule.training.workspace import Say


@dataclass(frozen=True)
class Telling:
    """Whom training talks to, what it samples, and by what its unfinished state is recognized."""

    say: Say = print
    show: Show | None = None
    sample: Callable[[Any], list[str]] | None = None
    identity: Mapping[str, Any] | None = None
    force: bool = False  # another identity is no reason to refuse
