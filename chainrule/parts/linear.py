"""The linear map that all parts use, with its initialization."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn


class Linear(nn.Linear):
    """y = W x + b; W starts as N(0, 1/inputs), b at 0.

    A map that writes into a residual stream of `depth` sublayers starts 1/√depth as large, so that the stream's
    variance does not grow with the depth (Radford et al. 2019, "Language models are unsupervised multitask learners").
    """

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True, depth: int = 1):
        self.deviation = 1 / math.sqrt(inputs * depth)
        super().__init__(inputs, outputs, bias=bias)

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.weight.normal_(0.0, self.deviation)
            if self.bias is not None:
                self.bias.zero_()


def without_autocast(x: Tensor) -> AbstractContextManager[object]:
    """A block whose products are in the precision of their factors, also in mixed precision."""
    kind = x.device.type
    mixed = kind != "meta" and torch.is_autocast_enabled(kind)
    return torch.autocast(kind, enabled=False) if mixed else nullcontext()
