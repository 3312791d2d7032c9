"""Conversion between NumPy and the arrays a model computes in; code above the families is written once for both."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from chainrule.protocols import Array

OF_AGE = hasattr(np, "cumulative_sum")  # NumPy 2.1 has what we use of the array API; a wrapper takes 0.1 s to import


def namespace(array: Array) -> Any:
    """The array API namespace of an array: NumPy's or torch's."""
    if isinstance(array, np.ndarray) and OF_AGE:  # called several times a token, so the usual case is checked first
        return np
    return array_api_compat.array_namespace(array)


def device(array: Array) -> Any:
    """The device of an array."""
    return "cpu" if isinstance(array, np.ndarray) else array_api_compat.device(array)


def on_host(array: Array) -> bool:
    """Whether numbers can be read without waiting for a GPU; a CUDA graph cannot record such a wait."""
    return str(device(array)) == "cpu"


def to_numpy(array: Array) -> np.ndarray:
    return array if isinstance(array, np.ndarray) else np.asarray(array_api_compat.to_device(array, "cpu"))


def host_as_numpy(array: Array) -> Array:
    """A NumPy array if the array is in main memory: NumPy is the fastest for small operations."""
    return np.asarray(array) if on_host(array) else array


def sent(array: Array, like: Array) -> Array:
    """An array converted to the kind of `like` and moved to its device."""
    if isinstance(array, np.ndarray) and not isinstance(like, np.ndarray):
        return namespace(like).asarray(array, device=device(like))
    return array


def mark(seen_BV: Array, ids_BT: Array) -> None:
    """Sets True at each row's ids, in place; on a GPU nothing comes from the host, so a CUDA graph can record it."""
    if isinstance(seen_BV, np.ndarray):
        np.put_along_axis(seen_BV, ids_BT.astype(np.int64), True, axis=1)
    else:
        seen_BV.scatter_(1, ids_BT.long(), True)  # of torch; the array API has nothing of the kind
