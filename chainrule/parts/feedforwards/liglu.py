"""The LiGLU feedforward: the product of two linear maps."""

from torch import Tensor

from chainrule.parts.feedforwards._gated import Gated
from chainrule.recipe.registry import part


@part
class LiGLU(Gated):
    """A feedforward whose hidden numbers are products of two linear maps, without an activation.

    y = W₂ (W₁ x ⊙ V x).

    Shazeer 2020, arXiv:2002.05202, §2 (FFN_Bilinear); hidden width ⅔ of the plain one's by default, so the sizes
    agree.
    """

    def gate(self, x: Tensor) -> Tensor:
        return x
