"""Which parameters decay: matrices do, gains and biases do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import nn

from chainrule.errors import OptionError

Named = Iterable[tuple[str, nn.Parameter]]


def groups(named: Named, weight_decay: float) -> list[dict[str, Any]]:
    """Parameter groups for `torch.optim`; a group without parameters is left out."""
    parameters = [(name, parameter) for name, parameter in named if parameter.requires_grad]
    found: list[dict[str, Any]] = [
        {"params": [p for name, p in parameters if decays(name, p)], "weight_decay": weight_decay},
        {"params": [p for name, p in parameters if not decays(name, p)], "weight_decay": 0.0},
    ]
    return [group for group in found if group["params"]]


def decays(name: str, parameter: nn.Parameter) -> bool:
    """Matrices, also many of one shape; the biases of many maps are no matrix."""
    return parameter.ndim >= 2 and name.rpartition(".")[2] != "bias"


def fused(named: Named) -> bool:
    """Whether torch has one kernel for all of a step: on the CPU and on CUDA."""
    return all(p.device.type in ("cpu", "cuda") and p.is_floating_point() for _, p in named)


def check_rate(where: str, value: float) -> float:
    if not 0 < value < float("inf"):
        raise OptionError(where, value, "more than 0")
    return value
