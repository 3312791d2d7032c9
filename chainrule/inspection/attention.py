"""Attention maps: where each token of a passage looked, in every layer and head, as the model computed it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST = 1_500_000  # weights in all maps together: about ten megabytes of a page


@dataclass(frozen=True)
class Map:
    """The weights of one layer: row q of a head says where the token at q looked; each row sums to 1."""

    layer: int  # the number of the sublayer
    weights: np.ndarray  # (H, T, T)


def maps(seen: Mapping[str, Sequence[Any]], model: str = "") -> list[Map]:
    """The maps of a model's layers from the input to the output: of the first window of the first row that was read."""
    found = {}
    for name, values in seen.items():
        if where := re.fullmatch(re.escape(model) + r"sublayers\.(\d+)/attention", name):
            found[int(where[1])] = first_row(values)
    return [Map(layer, found[layer]) for layer in sorted(found)]


def shortened(found: Sequence[Map], most: int | None = None) -> list[Map]:
    """The maps of so many first tokens that a page can hold all of them; a causal map's corner is a map itself."""
    heads = sum(len(each.weights) for each in found)
    length = max(1, int(((MOST if most is None else most) / max(heads, 1)) ** 0.5))
    return [Map(each.layer, each.weights[:, :length, :length]) for each in found]


def first_row(values: Sequence[Any]) -> np.ndarray:
    """The first row of the first recorded tensor, as float64: long texts are read in windows, which are rows."""
    return plain_array(values[0][0])


def plain_array(value: Any) -> np.ndarray:
    """Of torch or of the engine, as float64 in NumPy."""
    return (value if isinstance(value, np.ndarray) else value.detach().cpu().double().numpy()).astype(np.float64)
