"""Crossing between NumPy and the arrays a model computes in; code above the families is written once for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat
import numpy as np

from chainrule.protocols import Array, LanguageModel

OF_AGE = hasattr(np, "cumulative_sum")  # NumPy 2.1 has what we use of the array API; a wrapper takes 0.1 s to import


def namespace(array: Array) -> Any:
    """The array API namespace of an array: NumPy's or torch's."""
    if isinstance(array, np.ndarray) and OF_AGE:  # asked several times a token, so the usual answer is given at once
        return np
    return array_api_compat.array_namespace(array)


def to_numpy(array: Array) -> np.ndarray:
    return array if isinstance(array, np.ndarray) else np.asarray(array_api_compat.to_device(array, "cpu"))


def at_hand(array: Array) -> Array:
    """The same numbers in NumPy where they lie in main memory, whose small operations are the quickest."""
    if isinstance(array, np.ndarray):
        return array
    return np.asarray(array) if str(array_api_compat.device(array)) == "cpu" else array


def sender(model: LanguageModel) -> Callable[[np.ndarray], Array]:
    """A function that gives NumPy ids to this model as its own kind of array, on its own device."""
    if getattr(model, "arrays", None) == "numpy":  # it says so: a row of probabilities costs more
        return lambda ids: ids
    example = model.log_probs(model.start(1))
    xp, device = namespace(example), array_api_compat.device(example)
    return lambda ids: xp.asarray(ids, device=device)
