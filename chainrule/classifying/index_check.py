"""A classifier's arrays read from a file: every index is checked before a query follows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.classifying.quantizing import CENTROIDS
from chainrule.storage.index_arrays import Arrays


def check_arrays(arrays: Arrays, rows: int, labels: int, hashed: int, options: Any) -> None:
    """Refuses arrays that do not fit the number of rows, labels and buckets, or each other."""
    has_tree = options.loss == "hierarchical_softmax"
    outputs = arrays.get("outputs", np.floating, labels - has_tree, None)
    arrays.get("buckets", np.integer, None)
    arrays.below("buckets", hashed)
    if not options.quantized:
        arrays.get("inputs", np.floating, rows, outputs.shape[1])
    else:
        _check_quantized(arrays, rows, outputs.shape[1])
    if has_tree and "tree_nodes" in arrays.named:
        size = len(arrays.get("tree_nodes", np.integer, None))
        arrays.get("tree_starts", np.integer, labels + 1)
        arrays.get("tree_codes", np.integer, size)
        arrays.offsets("tree_starts", size)
        arrays.below("tree_nodes", len(outputs))
        arrays.below("tree_codes", 2)


def _check_quantized(arrays: Arrays, rows: int, width: int) -> None:
    """Codes are bytes, so that each names one of 256 centroids."""
    places = arrays.get("codes", np.uint8, rows, None).shape[1]
    piece = arrays.get("centroids", np.floating, places, CENTROIDS, None).shape[2]
    if int(arrays.get("width", np.integer, 1)[0]) != width or width > places * piece:
        raise arrays.broken("width", f"is not {width}, as of the outputs, or more than the codes hold")
    if "norm_codes" in arrays.named:
        arrays.get("norm_codes", np.uint8, rows)
        arrays.get("norm_centroids", np.floating, CENTROIDS)
