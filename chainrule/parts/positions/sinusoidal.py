"""Sinusoidal positions: waves of growing length, added to the embeddings."""

from torch import Tensor

from chainrule.parts.place import Place
from chainrule.parts.positions._position import Position
from chainrule.parts.positions._waves import waves
from chainrule.recipe.registry import part


@part
class Sinusoidal(Position):
    r"""Waves of growing length, added to the embeddings.

    x_t + scale · p_t,   p_{t,2i} = sin(t / base^(2i/D)),   p_{t,2i+1} = cos(t / base^(2i/D))

    Vaswani et al. 2017, arXiv:1706.03762, §3.5. There the embeddings are multiplied by √D, so that the waves, whose
    numbers are near 1, do not drown them: say so with the embedding's scale, or make the waves smaller here.
    """

    def __init__(self, place: Place, *, base: float = 10_000.0, scale: float = 1.0):
        super().__init__(place)
        self.base, self.scale = base, scale

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.scale * waves(positions, x.shape[-1], self.base).to(x.dtype)
