"""The budget of each training in seconds, tokens or FLOPs, parsed from text such as 5m."""

from __future__ import annotations

import math
import re
from typing import Any

from chainrule.errors import OptionError
from chainrule.training.plan import Budget

AMOUNT = re.compile(r"([0-9][0-9_,]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)")
TIMES = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
THINGS = {"tok": "tokens", "token": "tokens", "tokens": "tokens", "flop": "flops", "flops": "flops"}
SIZES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
HINT = "Such as 90s, 5m, 1h, 20Mtok or 1e15flop."


def parse_budget(text: str) -> Budget:
    """`90s`, `5m`, `1h`; `20Mtok`; `1e15flop`."""
    found = AMOUNT.fullmatch(text.strip())
    if not found:
        raise OptionError("--budget", text, "an amount with its unit", HINT)
    number, unit = float(found[1].replace(",", "").replace("_", "")), found[2]
    if unit in TIMES:
        return _positive(text, "seconds", number * TIMES[unit])
    for thing, kind in THINGS.items():
        if unit.lower().endswith(thing) and unit[: -len(thing)] in SIZES:
            return _positive(text, kind, number * SIZES[unit[: -len(thing)]])
    raise OptionError("--budget", text, "seconds, tokens or FLOPs", HINT)


def has_budget(recipe: Any, budget: Budget) -> bool:
    """Whether training by this recipe keeps to such a budget: counting does not, nor what makes passes alone."""
    own = getattr(getattr(recipe, "training", None), "budget", None)
    return getattr(own, budget.kind, None) is not None


def _positive(text: str, kind: str, amount: float) -> Budget:
    if not 0 < amount < math.inf:
        raise OptionError("--budget", text, "a finite number above 0", HINT)
    return Budget(**{kind: amount})  # type: ignore[arg-type]


def parse_size(where: str, given: str | int) -> int:
    """`3M` or `250k` as a number; a number is one already."""
    found = AMOUNT.fullmatch(str(given).strip())
    if not found or found[2] not in SIZES:
        raise OptionError(where, given, "a number such as 3M or 250k")
    amount = float(found[1].replace(",", "").replace("_", "")) * SIZES[found[2]]
    if not 1 <= amount < math.inf:
        raise OptionError(where, given, "at least 1")
    return round(amount)
