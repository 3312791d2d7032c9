"""What parts that read images share: the shape of an image, and an example of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.place import Place


class OfPixels(nn.Module):
    """An embedding of images (B, H, W, C): a vector for each place of a grid, row by row, perhaps others before them.
    """

    small = (8, 12, 3)
    grid: tuple[int, int]  # rows and columns of places
    before = 0  # vectors before those of the grid, such as a class token

    def __init__(self, place: Place):
        super().__init__()
        if len(place.features) != 3:
            own = type(self).__module__.rpartition(".")[2]
            raise OptionError("model.embedding", own, "lookup or another that does not read pixels",
                              "Only images have them: task.inputs=images.")
        self.pixels = place.features

    @property
    def vectors(self) -> int:
        """How many it makes of an image."""
        return self.before + self.grid[0] * self.grid[1]

    def example(self, rows: int, time: int, device: Any) -> Tensor:
        """Images of the right size; it is always the same, whatever the time."""
        return torch.zeros(rows, *self.pixels, device=device)
