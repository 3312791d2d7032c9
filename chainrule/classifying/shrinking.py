"""A smaller run from a trained one: fewer features, and quantized rows."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.classifying.features import Features
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.quantizing import longest_rows, quantized
from chainrule.errors import OptionError

steps = logging.getLogger("chainrule.steps")


def shrunk(model: TextClassifier, *, cutoff: int | None = None, piece: int = 2, norms: bool = True, seed: int = 0
           ) -> TextClassifier:
    """The model with a quantized input table; with `cutoff` it has only so many features, those of longest vectors.

    A feature that was cut off does not count in the mean. The output table stays as it is.
    """
    if not isinstance(model.inputs, np.ndarray):
        raise OptionError("model.quantized", True, "false", "This run is quantized already.")
    if not 1 <= piece <= model.inputs.shape[1]:
        raise OptionError("--piece", piece, f"1 to the dimension, {model.inputs.shape[1]}")
    table, features = np.asarray(model.inputs), model.features
    if cutoff is not None:
        if cutoff < 1:
            raise OptionError("--cutoff", cutoff, "at least 1")
        kept = longest_rows(table, 1, cutoff)
        table, features = table[kept], _fewer(features, kept)
    steps.debug(f"quantizing {len(table):,} vectors")
    rows = quantized(table, piece=piece, norms=norms, seed=seed)
    return TextClassifier(model.labels, features, rows, model.outputs, model.loss, model.tree)


def _fewer(features: Features, kept: np.ndarray) -> Features:
    first = 1 + len(features.words)
    words = [features.words[row - 1] for row in kept.tolist() if 0 < row < first]
    return Features(words, np.asarray(features.used)[kept[kept >= first] - first], features.shape, cut=True)


def size_of(folder: Path) -> int:
    """Bytes of all files of a run."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def facts(before: TextClassifier, after: TextClassifier) -> dict[str, Any]:
    """What changed, for the report."""
    return {"features": after.features.rows, "features_before": before.features.rows,
            "vocabulary": len(after.features.words), "ngrams": len(after.features.used)}
