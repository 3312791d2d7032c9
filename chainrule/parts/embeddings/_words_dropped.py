"""Embedding dropout: whole words are left out, everywhere in a batch."""

from __future__ import annotations

import torch
from torch import Tensor

from chainrule.errors import OptionError


def check_rate(where: str, rate: float) -> float:
    if not 0 <= rate < 1:
        raise OptionError(where, rate, "at least 0 and less than 1")
    return rate


def without_words(x: Tensor, ids: Tensor, vocabulary: int, rate: float) -> Tensor:
    """x ⊙ m[w] / (1 − rate), one m ~ Bernoulli(1 − rate) for each word of the vocabulary.

    Gal & Ghahramani 2016, arXiv:1512.05287, §4; Merity, Keskar & Socher 2018, arXiv:1708.02182, §4.3.
    """
    kept_V = torch.empty(vocabulary, dtype=x.dtype, device=x.device).bernoulli_(1 - rate) / (1 - rate)
    return x * kept_V[ids][..., None]
