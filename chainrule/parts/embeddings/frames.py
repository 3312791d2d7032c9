"""Frames of a recording as vectors: a linear map, after convolutions that halve time."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Frames(nn.Module):
    r"""Frames of numbers as vectors: a linear map, after convolutions that halve the number of frames.

    x_t = W z_t + b,   z = frames, or relu(K ∗ …) over time and bands, 3 × 3, at every second of both

    The subsampling of Dong, Xu & Xu 2018, "Speech-Transformer", §2.3, as in Gulati et al. 2020, arXiv:2005.08100, §2;
    here a vector sees only frames up to its own, 4t of four, so that it does not depend on the padding behind a row.
    `subsampling` 1 has no convolution, 2 has one, 4 has two, of `channels` each. K starts as N(0, 2/fan-in), biases at
    0.
    """

    small = (13,)  # bands, for the contract

    def __init__(self, place: Place, *, subsampling: Literal[1, 2, 4] = 1, channels: int = 32):
        super().__init__()
        if len(place.features) != 1:
            raise OptionError("model.embedding", "frames", "inputs that are frames of numbers", "Recordings are: "
                              "task.inputs=recordings. Tokens have the embedding lookup.")
        if channels < 1:
            raise OptionError("Frames.channels", channels, "at least 1")
        self.bands, self.halvings = place.features[0], subsampling.bit_length() - 1
        self.convolutions = nn.ModuleList([_convolution(channels if n else 1, channels) for n in range(self.halvings)])
        left = self.bands
        for _ in range(self.halvings):
            left = -(-left // 2)
        self.outward = Linear(left * (channels if self.halvings else 1), place.width)

    def example(self, rows: int, time: int, device: Any) -> Tensor:
        return torch.zeros(rows, time, self.bands, device=device)

    def lengths(self, lengths: Tensor) -> Tensor:
        """Vectors made of so many frames: ⌈t/2⌉ for each convolution."""
        for _ in range(self.halvings):
            lengths = (lengths + 1) // 2
        return lengths

    def forward(self, frames: Tensor) -> Tensor:
        if not self.halvings:
            return self.outward(frames)
        x_BCTM = frames[:, None]
        for convolution in self.convolutions:
            x_BCTM = convolution(F.pad(x_BCTM, (1, 1, 2, 0))).relu()
        return self.outward(x_BCTM.transpose(1, 2).flatten(2))


def _convolution(inward: int, outward: int) -> nn.Conv2d:
    made = nn.Conv2d(inward, outward, 3, stride=2)
    with torch.no_grad():
        made.weight.normal_(0.0, (2 / (9 * inward)) ** 0.5)
        if made.bias is not None:
            made.bias.zero_()
    return made
