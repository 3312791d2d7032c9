"""How contracts work: checks by kind of part, each described by a sentence that holds or not."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from chainrule.errors import ChainruleError

Check = Callable[[str, str], None]  # given the kind and the name of a part; raises where it breaks the contract
FILES = ("sublayers", "attention", "streams", "steps", "heads", "other_parts", "language_models", "tasks")
_CHECKS: dict[str, list[Check]] = {}


class Broken(AssertionError):
    """A part breaks its contract: the message says what was expected."""


@dataclass(frozen=True)
class Result:
    """The result of one check of one part."""

    kind: str
    name: str
    check: str  # the sentence
    problem: str | None  # None: kept
    seconds: float


def check(*kinds: str) -> Callable[[Check], Check]:
    """Marks a check of the parts of these kinds; the first line of its docstring is the sentence."""
    def mark(function: Check) -> Check:
        for kind in kinds:
            _CHECKS.setdefault(kind, []).append(function)
        return function
    return mark


@cache
def _loaded() -> dict[str, list[Check]]:
    for name in FILES:
        import_module(f"chainrule.contracts.{name}")
    return _CHECKS


def checks(kind: str) -> Sequence[Check]:
    """The checks for parts of this kind."""
    return _loaded().get(kind, ())


def kinds() -> list[str]:
    """The kinds that have a contract."""
    return list(_loaded())


def sentence(function: Check) -> str:
    return (function.__doc__ or function.__name__).split("\n")[0].rstrip(".")


def run(kind: str, name: str) -> list[Result]:
    """Runs every check of a part; one that raises another error has failed, too."""
    found = []
    for function in checks(kind):
        began, problem = time.perf_counter(), None
        try:
            function(kind, name)
        except (Broken, ChainruleError) as error:
            problem = " ".join(str(error).split())
        except Exception as error:  # whatever a part may raise
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            problem = f"{type(error).__name__} at {where}: {' '.join(str(error).split())}"
        found.append(Result(kind, name, sentence(function), problem, time.perf_counter() - began))
    return found


def require(kept: bool, problem: str) -> None:
    """Raises Broken unless `kept`."""
    if not kept:
        raise Broken(problem)


def require_close(one: Any, other: Any, problem: str, tolerance: float = 1e-9) -> None:
    """Two tensors of torch, equal up to rounding; says by how much they differ."""
    import torch

    try:
        torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance, equal_nan=True)
    except AssertionError as error:
        difference = next((line for line in str(error).splitlines() if "absolute difference" in line),
                    str(error).splitlines()[0])
        raise Broken(f"{problem}: {difference.strip()}") from None
