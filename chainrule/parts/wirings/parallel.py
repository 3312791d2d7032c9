"""Parallel sublayers: neighbors read the same input."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from chainrule.errors import OptionError
from chainrule.parts.norms._summed import summed
from chainrule.parts.place import Place
from chainrule.parts.wirings._pre_normed import PreNormed
from chainrule.parts.wirings._wiring import Make, Sublayer
from chainrule.recipe.registry import part


@part
class Parallel(PreNormed):
    r"""Pre-norm in which neighboring sublayers, such as attention and feedforward, read the same input.

    y = x + dropout(f₁(norm₁(x))) + … + dropout(f_n(norm_n(x))),   n = `together` sublayers, counted from the first

    Wang & Komatsuzaki 2021 (GPT-J); Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, §2. Each sublayer has a norm of its
    own, as in GPT-NeoX (arXiv:2204.06745, §2.1); there is one for all in GPT-J. For the pattern (sxf)*n choose
    `together=3`. The stack ends with one more norm.
    """

    def __init__(self, place: Place, norm: Make, dropout: Make, *, together: int = 2):
        super().__init__(place, norm, dropout)
        if together < 1:
            raise OptionError("Parallel.together", together, "at least 1", "With 1 it is pre_norm.")
        self.first = place.wired % together == 0

    def flow(self, x: Tensor, added: Tensor | None, sublayer: Sublayer) -> tuple[Tensor, Tensor | None, Any]:
        """The first of a group adds what is pending; the others read the stream without it, and add to it."""
        x, inward = summed(self.norm, x, added if self.first else None)
        y, state = sublayer(inward)
        y = self.dropout(y)
        return x, y if self.first or added is None else added + y, state

    def settled(self, x: Tensor, added: Tensor) -> tuple[Tensor, Tensor | None]:
        return (x + added, None) if self.first else (x, added)
