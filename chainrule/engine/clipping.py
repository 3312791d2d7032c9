"""Gradient clipping: by the norm of all gradients together, or value by value."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from chainrule.engine.tensor import Parameter
from chainrule.errors import OptionError


def norm(parameters: Iterable[Parameter]) -> float:
    """√Σ g² over all gradients together."""
    return math.sqrt(sum(float(np.vdot(each.grad, each.grad)) for each in parameters if each.grad is not None))


def clip_norm(parameters: Iterable[Parameter], largest: float) -> float:
    """All gradients times min(1, largest / norm), so that their direction stays; gives the norm before.

    Pascanu, Mikolov & Bengio 2013, arXiv:1211.5063, algorithm 1.
    """
    if not largest > 0:
        raise OptionError("clip_norm.largest", largest, "more than 0")
    parameters = list(parameters)
    before = norm(parameters)
    if before > largest:
        for each in parameters:
            if each.grad is not None:
                each.grad = each.grad * (largest / before)
    return before


def clip_value(parameters: Iterable[Parameter], largest: float) -> None:
    """Every number of every gradient into ± largest."""
    if not largest > 0:
        raise OptionError("clip_value.largest", largest, "more than 0")
    for each in parameters:
        if each.grad is not None:
            each.grad = np.clip(each.grad, -largest, largest)
