"""Reading a fastText model file (.bin)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from chainrule.errors import DataError
from chainrule.storage.files import opened
from chainrule.vectors.files.fasttext_layout import (
    CBOW,
    LOSSES,
    MAGIC,
    SETTINGS,
    SKIPGRAM,
    SUPERVISED,
    VERSION,
    FastTextModel,
)
from chainrule.vectors.files.reading import Bytes
from chainrule.vectors.files.table import check_size, empty_rows, spelled


def read_fasttext(path: Path) -> FastTextModel:
    """The whole model; one that is broken, quantized or a classifier is refused in one line."""
    with opened(path) as stream:
        data = Bytes(path, stream)
        settings, sample = read_settings(data, {CBOW: LOSSES, SKIPGRAM: LOSSES})
        names, counts, starts = _dictionary(data)
        check_size(path, "byte 8", len(names), settings["dimension"])
        rows = len(names) + (settings["bucket"] if settings["max_n"] else 0)
        inputs = matrix(data, "the input matrix", len(names), settings["dimension"], rows)
        outputs = matrix(data, "the output matrix", len(names), settings["dimension"], len(names))
        if not data.ended():
            raise data.broken("more follows after the output matrix")
    words = spelled(path, names, lambda row: f"byte {starts[row]:,}")
    return FastTextModel(settings, sample, words, names, counts, inputs, outputs)


def read_settings(data: Bytes, allowed: Mapping[int, Mapping[int, str]]) -> tuple[dict[str, int], float]:
    """The settings by name, and `sample`; `allowed` are the kinds of models that are wanted, each with its losses."""
    if data.number("<i4", "the first number") != MAGIC:
        raise DataError(f"{data.path}: byte 0: not {MAGIC}, with which a fastText model begins.")
    if (version := data.number("<i4", "the version")) not in (11, VERSION):
        raise DataError(f"{data.path}: byte 4: version {version}, expected {VERSION}. Save it with a newer fastText.")
    settings = {name: data.number("<i4", f"the setting {name}") for name in SETTINGS}
    sample = data.number("<f8", "the setting sample")
    if version < VERSION and settings["model"] == SUPERVISED:
        settings["max_n"] = 0  # classifiers had no character n-grams then, whatever their settings say
    if settings["model"] == SUPERVISED and SUPERVISED not in allowed:
        raise DataError(f"{data.path}: byte 36: a classifier of texts, expected word vectors (skipgram or cbow).")
    shortest, longest, bucket = (settings[name] for name in ("min_n", "max_n", "bucket"))
    ngrams_fit = longest == 0 or (0 <= shortest <= longest and bucket > 0)
    if settings["loss"] not in allowed.get(settings["model"], {}) or not ngrams_fit:
        raise DataError(f"{data.path}: byte 8: settings that fastText does not have: {settings}. The file is broken.")
    return settings, sample


def _dictionary(data: Bytes) -> tuple[list[bytes], np.ndarray, np.ndarray]:
    """Words, counts, and where each word stands."""
    size, words, labels = (data.number("<i4", "the sizes of the dictionary") for _ in range(3))
    tokens, pruned = (data.number("<i8", "the sizes of the dictionary") for _ in range(2))
    if size != words or labels or words < 0 or tokens < 0 or pruned > 0:
        raise data.broken(f"a dictionary of {size:,} entries, {words:,} words, {labels:,} labels and "
                          f"{max(pruned, 0):,} kept n-grams, expected only words and all n-grams")
    names, counts, starts = [], [], []
    for row in range(words):
        starts.append(data.offset)
        names.append(data.until(b"\0", f"word {row + 1:,} of the dictionary"))
        counts.append(data.number("<i8", f"the count of word {row + 1:,}"))
        if data.take(1, f"the kind of word {row + 1:,}") != b"\0":
            raise data.broken(f"word {row + 1:,} of the dictionary is no word")
    return names, np.array(counts, np.int64), np.array(starts, np.int64)


def matrix(data: Bytes, what: str, words: int, dimension: int, rows: int) -> np.ndarray:
    """The next matrix of the file, which must have these rows and must not be quantized."""
    if data.take(1, what) != b"\0":
        raise data.broken(f"{what} is quantized, which is not read. Take the model that was not quantized")
    return numbers(data, what, words, dimension, rows)


def numbers(data: Bytes, what: str, words: int, dimension: int, rows: int) -> np.ndarray:
    """The rows of a matrix that is not quantized, behind the byte that says so."""
    check_shape(data, what, words, dimension, rows)
    table = empty_rows(data.path, rows, dimension)
    data.rows(table, what)
    return table


def check_shape(data: Bytes, what: str, words: int, dimension: int, rows: int) -> None:
    """Reads the size of a matrix, which must be this."""
    found = data.number("<i8", what), data.number("<i8", what)
    if found != (rows, dimension):
        raise data.broken(f"{what} is of {found[0]:,} × {found[1]:,} numbers, expected {rows:,} × {dimension:,} for "
                          f"{words:,} words")
