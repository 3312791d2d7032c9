"""ScaleNorm: vectors of one learned length."""

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class ScaleNorm(nn.Module):
    """Vectors of one length, which is learned.

    y = g x / max(‖x‖, ε); g is one number, which starts at √D.

    Nguyen & Salazar 2019, arXiv:1910.05895, eq. 5.
    """

    def __init__(self, place: Place, *, epsilon: float = 1e-5):
        super().__init__()
        self.gain, self.epsilon = nn.Parameter(torch.full((1,), place.width**0.5)), epsilon

    def forward(self, x: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True,
                                          dtype=torch.promote_types(x.dtype, torch.float32)).clamp_min(self.epsilon)
        return x * (self.gain / length).to(x.dtype)
