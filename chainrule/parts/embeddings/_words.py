"""What parts that read words have in common: a table of words, vectors that were learned before, and a linear map."""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place

OWN = 2  # numbers of an input before its characters: rows of the word and of its vector
log = logging.getLogger("chainrule")


class OfWords(nn.Module):
    """x = W [E[w]; V[w]; spelled(c₁ … c_n)] + b; a part says how characters become one vector of `spelled` numbers.

    E starts as N(0, deviation²); V are vectors that were learned before, and stay as they are.
    """

    small = (5, 7, 6, 3)  # characters of a word, different characters, words with a vector, and its numbers

    def __init__(self, place: Place, spelled: int, word_width: int, character_width: int, deviation: float):
        super().__init__()
        name = type(self).__module__.rpartition(".")[2]
        if len(place.features) != len(self.small):
            raise OptionError("model.embedding", name, "lookup or another that does not read words",
                              "Words with their characters are task.inputs=words.")
        for option, value in (("word_width", word_width), ("character_width", character_width)):
            if value < 1:
                raise OptionError(f"model.embedding.{option}", value, "at least 1")
        self.longest, letters, count, numbers = place.features
        self.words = nn.Parameter(torch.empty(place.vocabulary, word_width).normal_(0.0, deviation))
        self.characters = nn.Parameter(torch.empty(letters, character_width).normal_(0.0, deviation))
        self.learned_before = nn.Parameter(torch.zeros(count, numbers), requires_grad=False) if count else None
        self.outward = Linear(word_width + numbers + spelled, place.width)

    def spell(self, x: Tensor, real: Tensor) -> Tensor:
        """(R, C, character_width) vectors of the characters of words, of which some are real (R, C): (R, spelled)."""
        raise NotImplementedError

    def example(self, rows: int, time: int, device: Any) -> Tensor:
        return torch.zeros(rows, time, OWN + self.longest, dtype=torch.long, device=device)

    def begin(self, known: Any) -> None:
        """Fills the table of vectors; a run that is opened again has them in its weights."""
        if self.learned_before is None:
            return
        import numpy as np

        from chainrule.vectors.opening import open_vectors

        facts = known.facts["inputs"]
        source, words = facts["vectors"]["source"], facts["vectors"]["words"]
        vectors = open_vectors(source, "task.inputs.vectors")
        table = torch.from_numpy(np.stack([vectors.vector(word) for word in words]).astype(np.float32))
        table = table / table.std()  # whatever the method, as large as what is learned beside them
        with torch.no_grad():
            self.learned_before[1:] = table.to(self.learned_before)
        has = set(words)
        found = sum(word in has for word in facts["words"])
        log.info(f"{found:,} of {len(facts['words']):,} words have a vector in {source}, which has {len(words):,}.")

    def forward(self, inputs: Tensor) -> Tensor:
        spelling = inputs[..., OWN:].flatten(0, 1)
        real = spelling > 0
        x = F.embedding(spelling, self.characters) * real[..., None]
        found = [F.embedding(inputs[..., 0], self.words), self.spell(x, real).unflatten(0, inputs.shape[:2])]
        if self.learned_before is not None:
            found.insert(1, F.embedding(inputs[..., 1], self.learned_before))
        return self.outward(torch.cat(found, dim=-1))
