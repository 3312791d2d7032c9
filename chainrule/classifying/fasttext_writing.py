"""Text classifiers written as fastText's files, in a stream: whole (.bin), or quantized (.ftz) where the run is."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from chainrule.classifying.fasttext_files import LOSSES
from chainrule.classifying.fasttext_quantized import Kept, write_kept, write_quantized
from chainrule.classifying.features import Features
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.quantizing import QuantizedRows, with_zeros
from chainrule.classifying.spelling import END
from chainrule.errors import UsageError
from chainrule.storage.files import created
from chainrule.vectors.files.fasttext_layout import MAGIC, SETTINGS, SUPERVISED, VERSION
from chainrule.vectors.files.fasttext_write import announce_buckets, write_buckets, write_rows

SMALLER = "export what chainrule quantize RUN --out SMALL makes (.ftz), or "
MOST = 2**31 - 1  # codes that fastText can count
Write = Callable[[bytes], object]


def write_classifier(path: Path, model: TextClassifier, counts: np.ndarray, prefix: str, epochs: int) -> None:
    """A file that fastText reads. A run does not store word counts, so each is written as 1."""
    _check_name(path, model)
    inputs, kept = model.inputs, None
    if isinstance(inputs, QuantizedRows):
        inputs, kept = _arranged(path, model.features, inputs)
    else:
        shape, width = model.features.shape, model.outputs.shape[1]
        announce_buckets(path, len(inputs) - len(model.features.used) + len(model.labels), width,
                         (shape.hashed, len(model.features.used)), "model.bucket", SMALLER)
    with created(path) as write:
        _write_settings(write, model, epochs)
        _write_dictionary(write, model, counts, prefix, kept)
        if isinstance(inputs, QuantizedRows):
            write_quantized(write, inputs)
        else:
            _write_inputs(write, model.features, np.asarray(inputs))
        width = model.outputs.shape[1]
        write(struct.pack("<?qq", False, len(model.labels), width))
        write_rows(write, model.outputs)
        if len(model.outputs) < len(model.labels):  # the tree has a node less than there are labels
            write_rows(write, np.zeros((1, width), np.float32))


def _check_name(path: Path, model: TextClassifier) -> None:
    quantized = isinstance(model.inputs, QuantizedRows)
    if quantized and ".bin" in path.suffixes:
        raise UsageError(f"{path}: the classifier is quantized; fastText expects a name that ends in .ftz. Choose such "
                         "a name, or export the run that it was made from.")
    if not quantized and ".ftz" in path.suffixes:
        raise UsageError(f"{path}: .ftz files are quantized, and this classifier is not. Try chainrule quantize RUN "
                         "--out SMALL and export that, or choose a name that ends in .bin.")


def _write_settings(write: Write, model: TextClassifier, epochs: int) -> None:
    shape, loss = model.features.shape, {name: number for number, name in LOSSES.items()}[model.loss]
    known = dict.fromkeys(SETTINGS, 0) | {
        "dimension": model.outputs.shape[1], "window": 5, "epochs": epochs, "min_count": 1, "negative": 5,
        "word_ngrams": shape.word_ngrams, "loss": loss, "model": SUPERVISED, "bucket": shape.hashed,
        "min_n": shape.min_n, "max_n": shape.max_n, "update_rate": 100}
    write(struct.pack("<ii12id", MAGIC, VERSION, *(known[name] for name in SETTINGS), 1e-4))


def _write_dictionary(write: Write, model: TextClassifier, counts: np.ndarray, prefix: str, kept: Kept | None) -> None:
    words = [END, *model.features.words]
    write(struct.pack("<iiiqq", len(words) + len(model.labels), len(words), len(model.labels),
                      len(words) + int(counts.sum()), -1 if kept is None else len(kept.rows)))
    for word in words:
        write(word + b"\0" + struct.pack("<qb", 1, 0))
    for label, count in zip(model.labels, counts.tolist(), strict=True):
        write((prefix + label).encode() + b"\0" + struct.pack("<qb", count, 1))
    if kept is not None:
        write_kept(write, kept)


def _write_inputs(write: Write, features: Features, table: np.ndarray) -> None:
    first, hashed = 1 + len(features.words), features.shape.hashed
    write(struct.pack("<?qq", False, first + hashed, table.shape[1]))
    write_rows(write, table[:first])
    if hashed:
        order = np.argsort(features.used, kind="stable")
        write_buckets(write, hashed, np.asarray(features.used)[order], table[first + order])


def _arranged(path: Path, features: Features, table: QuantizedRows) -> tuple[QuantizedRows, Kept | None]:
    """The rows in fastText's order, and a list of n-grams where not each bucket has a row of its own.

    In a model that was not cut, an n-gram without a row counts as zeros. Either every bucket gets a row, or all are
    listed, with one row of zeros for many: what takes fewer bytes.
    """
    used, first, hashed, kept = np.asarray(features.used), 1 + len(features.words), features.shape.hashed, None
    if features.cut and hashed:
        kept = Kept(used, np.arange(len(used)))
    else:
        rows = np.full(hashed, len(used))
        rows[used] = np.arange(len(used))
        if len(used) < hashed:
            table = _with_zeros(path, table)
        if (hashed - len(used)) * (table.codes.shape[1] + 1) > 8 * hashed:
            kept = Kept(np.arange(hashed), rows)
        else:
            table = table.only(np.concatenate([np.arange(first), first + rows]))
    if table.codes.size > MOST:
        raise UsageError(f"{path}: {len(table):,} rows of {table.codes.shape[1]:,} codes, expected at most {MOST:,} "
                         "codes. Try chainrule quantize with a smaller --cutoff or a larger --piece.")
    return table, kept


def _with_zeros(path: Path, table: QuantizedRows) -> QuantizedRows:
    found = with_zeros(table)
    if found is None:
        raise UsageError(f"{path}: this run was quantized by an earlier version, without a length of 0, which fastText "
                         "needs for n-grams that training never met. Try chainrule quantize again.")
    return found
