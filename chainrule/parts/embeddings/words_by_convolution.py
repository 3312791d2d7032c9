"""Words from a table and from their characters, by a convolution and the largest value of each filter."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.embeddings._words import OfWords
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class WordsByConvolution(OfWords):
    r"""A vector for each word from a table, and from its characters by convolution.

    x = W [E[w]; V[w]; s] + b,   s_k = max_t relu(K_k · [c_{t−1}; c_t; c_{t+1}] + a_k)

    dos Santos & Zadrozny 2014, "Learning character-level representations for part-of-speech tagging", §2.1; Ma & Hovy
    2016, arXiv:1603.01354, §2.1. `widths` are those of the windows, odd, each with `filters`. E and c start as
    N(0, deviation²), K as N(0, 2/inputs), W as N(0, 1/inputs), a and b at 0; V are fixed vectors, if the task has some.
    """

    def __init__(self, place: Place, *, word_width: int = 100, character_width: int = 32,
                 widths: tuple[int, ...] = (3,), filters: int = 64, deviation: float = 0.3):
        if not widths or min(widths) < 1 or not all(width % 2 for width in widths):
            raise OptionError("model.embedding.widths", widths, "odd numbers, at least one")
        if filters < 1:
            raise OptionError("model.embedding.filters", filters, "at least 1")
        super().__init__(place, filters * len(widths), word_width, character_width, deviation)
        self.filters = nn.ModuleList([nn.Conv1d(character_width, filters, width, padding=width // 2)
                                      for width in widths])
        with torch.no_grad():
            for each in self.filters:
                each.weight.normal_(0.0, (2 / (character_width * each.kernel_size[0])) ** 0.5)  # type: ignore
                each.bias.zero_()  # type: ignore[operator]

    def spell(self, x: Tensor, real: Tensor) -> Tensor:
        x_RDC = x.transpose(1, 2)
        return torch.cat([(each(x_RDC).relu() * real[:, None]).amax(-1) for each in self.filters], dim=-1)
