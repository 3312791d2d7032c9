"""A window: the last inputs side by side, seen by one linear map."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.mixers._nearby import Last, nearby
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note, watched


@part
class Window(nn.Module):
    r"""The last inputs side by side, seen by one linear map.

    y_t = W [x_{t−size+1}; …; x_t] + b

    Bengio et al. 2003, "A neural probabilistic language model", JMLR 3, eq. 1: the concatenated words (the hidden layer
    is a feedforward behind this). Before the text there are zeros, not start marks; a reader of both sides is centered.
    W starts as N(0, 1/(size · D · depth)), b at 0.
    """

    def __init__(self, place: Place, *, size: int = 8, bias: bool = True):
        super().__init__()
        if size < 1:
            raise OptionError("Window.size", size, "at least 1", "1 looks at a single token.")
        self.size, self.width = size, place.width
        self.outward = Linear(size * place.width, place.width, bias=bias, depth=place.depth)

    def start(self, batch: int, room: int, like: Tensor) -> Last:
        return Last(like.new_zeros(batch, self.size - 1, self.width))

    def forward(self, x: Tensor, state: Last | None, reading: Reading) -> tuple[Tensor, Last]:
        near, after = nearby(x, self.size, state, reading)
        if watched():
            note("contribution", self._shares(near))
        return self.outward(near), after

    def _shares(self, near: Tensor) -> Tensor:
        """(B, T, size): how long a vector each place of the window adds to the sum."""
        places = near.unflatten(-1, (self.size, self.width)), self.outward.weight.unflatten(1, (self.size, self.width))
        return torch.einsum("btnd,ond->btno", *places).norm(dim=-1)
