"""Words from a table and from their characters, by two LSTMs, one each way."""

from __future__ import annotations

import torch
from torch import Tensor

from chainrule.errors import OptionError
from chainrule.parts.embeddings._words import OfWords
from chainrule.parts.mixers._recurrent import backward
from chainrule.parts.mixers.lstm import LSTMCell
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@part
class WordsByLSTM(OfWords):
    r"""A vector for each word from a table, and from its characters by two LSTMs, one each way.

    x = W [E[w]; V[w]; h→_n; h←_1] + b,   h→ = LSTM(c₁ … c_n),   h← = LSTM(c_n … c₁)

    Ling et al. 2015, arXiv:1508.02096, §3; Lample et al. 2016, arXiv:1603.01360, §4.1. Each LSTM has `hidden` numbers.
    E and c start as N(0, deviation²), W as N(0, 1/inputs), b at 0; V are fixed vectors, if the task has some.
    """

    def __init__(self, place: Place, *, word_width: int = 100, character_width: int = 32, hidden: int = 32,
                 deviation: float = 0.3):
        if hidden < 1:
            raise OptionError("model.embedding.hidden", hidden, "at least 1")
        super().__init__(place, 2 * hidden, word_width, character_width, deviation)
        self.forward_cell, self.reversed_cell = (LSTMCell(character_width, hidden, 1.0, hidden**-0.5) for _ in range(2))

    def spell(self, x: Tensor, real: Tensor) -> Tensor:
        lengths = real.sum(1).clamp(min=1)
        last = (lengths - 1)[:, None, None].expand(-1, 1, self.forward_cell.hidden)
        there, back = x, backward(x, Reading(False, lengths=lengths))
        return torch.cat([cell(own, cell.start(len(x), x))[0].gather(1, last)[:, 0]
                          for cell, own in ((self.forward_cell, there), (self.reversed_cell, back))], dim=-1)
