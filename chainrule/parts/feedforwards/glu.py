"""The GLU feedforward."""

from torch import Tensor

from chainrule.parts.feedforwards._gated import Gated
from chainrule.recipe.registry import part


@part
class GLU(Gated):
    """A feedforward whose hidden numbers pass a sigmoid gate.

    y = W₂ (σ(W₁ x) ⊙ V x).

    Shazeer 2020, arXiv:2002.05202, eq. 5 and 6; hidden width ⅔ of the plain one's by default, so the sizes agree.
    """

    def gate(self, x: Tensor) -> Tensor:
        return x.sigmoid()
