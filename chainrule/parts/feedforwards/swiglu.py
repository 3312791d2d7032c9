"""The SwiGLU feedforward."""

from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.feedforwards._gated import Gated
from chainrule.recipe.registry import part


@part
class SwiGLU(Gated):
    """A feedforward whose hidden numbers pass a SiLU gate.

    y = W₂ (SiLU(W₁ x) ⊙ V x).

    Shazeer 2020, arXiv:2002.05202, eq. 5 and 6; hidden width ⅔ of the plain one's by default, so the sizes agree.
    """

    def gate(self, x: Tensor) -> Tensor:
        return F.silu(x)
