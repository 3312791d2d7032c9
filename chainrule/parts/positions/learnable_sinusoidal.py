"""Learnable sinusoidal positions: waves whose lengths are learned, added to the embeddings."""

from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.positions._position import Position
from chainrule.parts.positions._waves import frequencies, waves_of
from chainrule.recipe.registry import part


@part
class LearnableSinusoidal(Position):
    r"""Waves whose lengths are learned, added to the embeddings.

    x_t + scale · p_t,   p_{t,2i} = sin(ω_i t),   p_{t,2i+1} = cos(ω_i t)

    Wang et al. 2021, "On position embeddings in BERT" (ICLR 2021), §3: the frequencies ω are parameters, D/2 numbers in
    the place of a vector for each position. They start as those of `sinusoidal`, base^(−2i/D).
    """

    def __init__(self, place: Place, *, base: float = 10_000.0, scale: float = 1.0):
        super().__init__(place)
        self.scale, self.frequency = scale, nn.Parameter(frequencies(place.width, base))

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.scale * waves_of(positions, self.frequency)[..., :x.shape[-1]].to(x.dtype)
