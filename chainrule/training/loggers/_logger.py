"""What a logger is, and what it is told when training begins."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from chainrule.errors import UsageError


@dataclass(frozen=True)
class Session:
    """The training that a logger shows; what it writes into `folder` becomes `logs/` of the run."""

    folder: Path
    name: str  # of the run
    step: int  # at which it begins: more than 0 where an interrupted training is resumed
    recipe: Mapping[str, Any]


class Logger(Protocol):
    """A part in this folder is built with a Session."""

    def row(self, step: int, numbers: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


def needed(module: str, logger: str) -> Any:
    """A module of the extra `loggers`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise UsageError(f"training.loggers = {logger!r} needs the package {package} ({error}). Try: pip install "
                         f"{package}") from None
