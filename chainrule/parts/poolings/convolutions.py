"""Convolutions of several widths, each with its largest value over time: Kim's convolutional classifier."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.parts.poolings._padding import real
from chainrule.recipe.registry import part
from chainrule.watching import note, watched


@part
class Convolutions(nn.Module):
    r"""Filters of several widths slide over the row; of each the largest value over time is kept.

    y = [max_t relu(W_k [h_t; …; h_{t+k−1}] + b_k)]  for each width k, `filters` of each

    Kim 2014, arXiv:1408.5882, §2. Filters also see the k − 1 places before and after the row, which are zeros, so that
    a row may be shorter than a filter. W_k starts as N(0, 1/(k D)), b_k at 0.
    """

    def __init__(self, place: Place, *, widths: tuple[int, ...] = (3, 4, 5), filters: int = 100):
        super().__init__()
        if not widths or min(widths) < 1:
            raise OptionError("Convolutions.widths", widths, "numbers of at least 1, such as [3, 4, 5]")
        if filters < 1:
            raise OptionError("Convolutions.filters", filters, "at least 1")
        self.widths, self.width = tuple(widths), filters * len(widths)
        self.filters = nn.ModuleList([Linear(width * place.width, filters) for width in widths])

    def forward(self, hidden: Tensor, lengths: Tensor | None) -> Tensor:
        x = hidden.masked_fill(~real(hidden, lengths), 0.0)
        found = [self._largest(x, width, each, lengths) for width, each in zip(self.widths, self.filters, strict=True)]
        return torch.cat(found, dim=-1)

    def _largest(self, x: Tensor, width: int, filters: nn.Module, lengths: Tensor | None) -> Tensor:
        weight = filters.weight.unflatten(1, (width, -1)).transpose(1, 2)  # type: ignore[operator]
        y = F.conv1d(x.transpose(1, 2), weight, filters.bias, padding=width - 1).relu()  # type: ignore[arg-type]
        if lengths is not None:
            places = torch.arange(y.shape[-1], device=y.device)
            y = y.masked_fill(places >= (lengths[:, None, None] + width - 1), 0.0)  # no smaller than any value
        if watched():
            note(f"filters of {width}", y.transpose(1, 2))
        return y.amax(-1)
