"""fastText's files of text classifiers, whole (.bin) or quantized (.ftz), as models.

The layout is that of word vectors, `chainrule.vectors.files.fasttext_layout`; what quantized files have besides is in
`chainrule.classifying.fasttext_quantized`. Labels follow the words in the dictionary, each with its prefix and kind 1,
and the output matrix has a row for each label. Row 0 of ours is </s>'s.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chainrule.classifying.fasttext_quantized import Kept, read_kept, read_quantized
from chainrule.classifying.features import Features, Shape
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.quantizing import QuantizedRows
from chainrule.classifying.spelling import END
from chainrule.classifying.tree import label_tree
from chainrule.errors import DataError
from chainrule.storage.files import opened
from chainrule.vectors.files.fasttext_layout import SUPERVISED
from chainrule.vectors.files.fasttext_read import numbers, read_settings
from chainrule.vectors.files.reading import Bytes
from chainrule.vectors.files.table import check_size, spelled
from chainrule.vectors.huffman import no_tree

LOSSES = {1: "hierarchical_softmax", 2: "negative_sampling", 3: "softmax", 4: "one_vs_all"}
PREFIX = b"__label__"
MARKS = (b"<unk>", b"<s>")  # of our tokenizer
LONGEST, MOST = 16, 1 << 27  # word n-grams, and buckets, each of which takes four bytes when texts are read
OUTPUT_PIECE = 2  # fastText has no other; wider ones would let a small file ask for much memory
Table = np.ndarray | QuantizedRows
log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class Imported:
    """A classifier, how often each of its labels occurred, and the settings in the file."""

    model: TextClassifier
    counts: np.ndarray
    settings: dict[str, int]


@dataclass(frozen=True)
class Dictionary:
    """Words, labels without their prefix, the counts of labels, and which n-grams were kept where not all were."""

    words: list[bytes]
    labels: list[str]
    counts: np.ndarray
    kept: Kept | None


def read_classifier(path: Path) -> Imported:
    """The whole model. A quantized input table stays quantized; a quantized output table is decoded."""
    with opened(path) as stream:
        data = Bytes(path, stream)
        settings, _ = read_settings(data, {SUPERVISED: LOSSES})
        _check(path, settings)
        known = _dictionary(data, settings["bucket"])
        width, words, labels = settings["dimension"], len(known.words), len(known.labels)
        check_size(path, "byte 8", words, width)
        rows = words + (settings["bucket"] if known.kept is None else known.kept.size)
        inputs = _table(data, "the input matrix", words, width, rows)
        if known.kept is not None and isinstance(inputs, np.ndarray):
            raise data.broken("some n-grams were cut off, but the input matrix is not quantized")
        outputs = _table(data, "the output matrix", labels, width, labels)
        if isinstance(outputs, QuantizedRows):
            outputs = _plain(data, outputs)
        if not data.ended():
            raise data.broken("more follows after the output matrix")
    loss = LOSSES[settings["loss"]]
    features, inputs = _features(path, known, inputs, settings)
    tree = label_tree(known.counts) if loss == "hierarchical_softmax" else no_tree()
    model = TextClassifier(known.labels, features, inputs, outputs[: labels - (len(tree.nodes) > 0)], loss, tree)
    return Imported(model, known.counts, settings)


def _check(path: Path, settings: dict[str, int]) -> None:
    for name, place, most in (("word_ngrams", 28, LONGEST), ("bucket", 40, MOST)):
        if not 0 <= settings[name] <= most:
            raise DataError(f"{path}: byte {place}: {name} = {settings[name]:,}, expected 0 to {most:,}.")


def _dictionary(data: Bytes, bucket: int) -> Dictionary:
    size, words, classes = (data.number("<i4", "the sizes of the dictionary") for _ in range(3))
    tokens, kept = (data.number("<i8", "the sizes of the dictionary") for _ in range(2))
    if size != words + classes or words < 1 or classes < 2 or tokens < 0:
        raise data.broken(f"a dictionary of {size:,} entries, {words:,} words and {classes:,} labels, expected words "
                          "and at least 2 labels")
    names, counts = list[bytes](), list[int]()
    for row in range(size):
        names.append(data.until(b"\0", f"entry {row + 1:,} of the dictionary"))
        counts.append(data.number("<i8", f"the count of entry {row + 1:,}"))
        if data.take(1, f"the kind of entry {row + 1:,}") != (b"\0" if row < words else b"\1"):
            raise data.broken(f"entry {row + 1:,} of the dictionary is no {'word' if row < words else 'label'}")
    found = names[words:]
    if all(name.startswith(PREFIX) for name in found):
        found = [name[len(PREFIX) :] for name in found]
    labels = spelled(data.path, found, lambda row: f"label {row + 1:,}")
    return Dictionary(names[:words], labels, np.array(counts[words:], np.int64),
                      None if kept < 0 else read_kept(data, kept, bucket))


def _table(data: Bytes, what: str, words: int, width: int, rows: int) -> Table:
    quantized = data.take(1, what)
    if quantized not in (b"\0", b"\1"):
        raise data.broken(f"{what} says {quantized[0]} where it is quantized or not, expected 1 or 0")
    return (numbers if quantized == b"\0" else read_quantized)(data, what, words, width, rows)


def _plain(data: Bytes, outputs: QuantizedRows) -> np.ndarray:
    if outputs.centroids.shape[2] > OUTPUT_PIECE:
        raise data.broken(f"the output matrix is quantized in pieces of {outputs.centroids.shape[2]:,} numbers, "
                          f"expected {OUTPUT_PIECE}")
    return outputs[np.arange(len(outputs))]


def _features(path: Path, known: Dictionary, inputs: Table, settings: dict[str, int]) -> tuple[Features, Table]:
    """The file's rows with </s> first, and without the buckets that are all zeros."""
    words = known.words
    if END not in words:
        raise DataError(f"{path}: the dictionary has no word {END.decode()!r}, with which every text ends.")
    if lost := [word.decode() for word in MARKS if word in words]:
        log.info(f"{path}: the words {', '.join(lost)} are marks here: they have no vector.")
    names = [name.encode() for name in spelled(path, words, lambda row: f"word {row + 1:,}")]
    own = [row for row, name in enumerate(names) if name not in (END, *MARKS)]
    shape = Shape(max(1, settings["word_ngrams"]), max(1, settings["min_n"]) if settings["max_n"] else 0,
                  settings["max_n"], max(1, settings["bucket"]))
    used, rows, cut = _ngrams(path, known, inputs, shape)
    order = np.concatenate([[words.index(END)], own, rows]).astype(np.int64)
    if len(order) < len(inputs) or (np.diff(order) != 1).any():
        inputs = inputs.only(order) if isinstance(inputs, QuantizedRows) else inputs[order]
    return Features([names[row] for row in own], used, shape, cut=cut), inputs


def _ngrams(path: Path, known: Dictionary, inputs: Table, shape: Shape) -> tuple[np.ndarray, np.ndarray, bool]:
    """Buckets, their rows, and whether n-grams were cut off. If not, buckets whose rows are zeros are left out."""
    first, kept = len(known.words), known.kept
    if not shape.hashed:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), False
    cut = kept is not None and len(kept.rows) < shape.hashed
    if kept is None:
        kept = Kept(np.arange(len(inputs) - first), np.arange(len(inputs) - first))
    order = np.argsort(kept.rows, kind="stable")
    if not cut:
        filled = inputs.filled() if isinstance(inputs, QuantizedRows) else np.asarray(inputs.any(1))
        order = order[filled[first + kept.rows[order]]]
    rows = kept.rows[order]
    if len(again := order[1:][np.diff(rows) == 0]):
        raise DataError(f"{path}: byte {kept.start + 8 * again[0]:,}: row {kept.rows[again[0]]:,} again among the kept "
                        "n-grams, expected one row for each.")
    return kept.buckets[order], first + rows, cut
