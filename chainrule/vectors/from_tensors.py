"""From a run's tensors back to the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from chainrule.vectors.store import Vectors
from chainrule.vectors.subwords import BagOfGrams
from chainrule.vectors.text import spellings


def vectors_of(tensors: Mapping[str, np.ndarray], tokenizer: Any) -> Vectors:
    """`vectors` (V, D) and `counts` (V,); with `grams` (G, D), `buckets` (G,) and `shape`, unseen words have parts."""
    subwords = BagOfGrams.from_tensors(tensors) if "grams" in tensors else None
    return Vectors(spellings(tokenizer), tensors["vectors"], counts=tensors.get("counts"), subwords=subwords)
