"""Word vectors that were learned before, from a run or a file: fixed, trained further, or both side by side."""

from __future__ import annotations

import logging
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.recipe.registry import part

log = logging.getLogger("chainrule")


@part
class WordVectors(nn.Module):
    r"""A table whose rows begin as vectors that were learned before; words without one begin at random.

    x = E[w] (`static`: E is fixed; `tuned`: E is trained further), or E_static[w] + E_tuned[w] (`both`)

    Kim 2014, arXiv:1408.5882, §2.1; his two channels are convolved with the same filters and added, which is the sum of
    both tables. `vectors` names a run of word vectors, or a file of them. Random rows are N(0, σ²) with the deviation σ
    of the vectors; before there are any, all rows are N(0, deviation²).
    """

    def __init__(self, place: Place, *, vectors: str | None = None, channels: Literal["static", "tuned", "both"] =
                 "tuned", deviation: float = 0.1):
        super().__init__()
        self.source, self.deviation = vectors, deviation
        self.weight = nn.Parameter(torch.empty(place.vocabulary, place.width).normal_(0.0, deviation))
        self.static = nn.Parameter(torch.empty(place.vocabulary, place.width).normal_(0.0, deviation),
                                   requires_grad=False) if channels == "both" else None
        self.weight.requires_grad_(channels != "static")

    def begin(self, known: Any) -> None:
        """Fills the tables with the vectors; a run that is opened again has them in its weights."""
        if self.source is None:
            raise OptionError("model.embedding.vectors", None, "a run of word vectors, or a file of them",
                              "For example: model.embedding.vectors=runs/skipgram.")
        from chainrule.vectors.opening import open_vectors

        vectors = open_vectors(self.source, "model.embedding.vectors")
        if vectors.dimension != self.weight.shape[1]:
            raise OptionError("model.width", self.weight.shape[1], f"{vectors.dimension}, as the vectors of "
                              f"{self.source}", f"Try model.width={vectors.dimension}.")
        found = {}
        for id in range(len(self.weight)):
            vector = vectors.find(known.tokenizer.token(id))
            if vector is not None:
                found[id] = vector
        if not found:
            raise OptionError("model.embedding.vectors", self.source, "vectors of at least one token of the tokenizer",
                              "Are its tokens words? Try tokenizer=plain_words.")
        rows, table = torch.tensor(list(found)), torch.from_numpy(np.stack(list(found.values())).astype(np.float32))
        scale = float(table.std())
        with torch.no_grad():
            for each in [each for each in (self.weight, self.static) if each is not None]:
                each.mul_(scale / self.deviation)
                each[rows] = table.to(each)
        log.info(f"{len(found):,} of {len(self.weight):,} tokens have a vector in {self.source}.")

    def forward(self, ids: Tensor) -> Tensor:
        x = F.embedding(ids, self.weight)
        return x if self.static is None else x + F.embedding(ids, self.static)
