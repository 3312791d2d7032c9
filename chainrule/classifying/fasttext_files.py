"""fastText's files of text classifiers (.bin): read whole, written in a stream; not the quantized ones (.ftz).

The layout is that of word vectors, `chainrule.vectors.files.fasttext_layout`. Labels follow the words in the
dictionary, each with its prefix and kind 1, and the output matrix has a row for each label. Row 0 of ours is </s>'s.
"""

from __future__ import annotations

import logging
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chainrule.classifying.features import Features, Shape
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.spelling import END
from chainrule.classifying.tree import label_tree
from chainrule.errors import DataError, UsageError
from chainrule.storage.files import created, opened
from chainrule.vectors.files.fasttext_layout import MAGIC, SETTINGS, SUPERVISED, VERSION
from chainrule.vectors.files.fasttext_read import matrix, read_settings
from chainrule.vectors.files.fasttext_write import write_buckets, write_rows
from chainrule.vectors.files.reading import Bytes
from chainrule.vectors.files.table import check_size, spelled
from chainrule.vectors.huffman import no_tree

LOSSES = {1: "hierarchical_softmax", 2: "negative_sampling", 3: "softmax", 4: "one_vs_all"}
PREFIX = b"__label__"
MARKS = (b"<unk>", b"<s>")  # of our tokenizer
log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class Imported:
    """A classifier, how often each of its labels occurred, and the settings in the file."""

    model: TextClassifier
    counts: np.ndarray
    settings: dict[str, int]


def read_classifier(path: Path) -> Imported:
    """The whole model; a broken or quantized one is refused in one line."""
    with opened(path) as stream:
        data = Bytes(path, stream)
        settings, _ = read_settings(data, {SUPERVISED: LOSSES})
        words, labels, counts = _dictionary(data)
        width, bucket = settings["dimension"], settings["bucket"]
        check_size(path, "byte 8", len(words), width)
        inputs = matrix(data, "the input matrix", len(words), width, len(words) + bucket)
        outputs = matrix(data, "the output matrix", len(labels), width, len(labels))
        if not data.ended():
            raise data.broken("more follows after the output matrix")
    loss = LOSSES[settings["loss"]]
    features, inputs = _features(path, words, inputs, settings)
    tree = label_tree(counts) if loss == "hierarchical_softmax" else no_tree()
    model = TextClassifier(labels, features, inputs, outputs[: len(labels) - (len(tree.nodes) > 0)], loss, tree)
    return Imported(model, counts, settings)


def _dictionary(data: Bytes) -> tuple[list[bytes], list[str], np.ndarray]:
    """Words, labels without their prefix, and the counts of labels."""
    size, words, classes = (data.number("<i4", "the sizes of the dictionary") for _ in range(3))
    tokens, pruned = (data.number("<i8", "the sizes of the dictionary") for _ in range(2))
    if size != words + classes or words < 1 or classes < 2 or tokens < 0 or pruned >= 0:
        raise data.broken(f"a dictionary of {size:,} entries, {words:,} words, {classes:,} labels and "
                          f"{max(pruned, 0):,} kept n-grams, expected words, at least 2 labels, and all n-grams")
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
    return names[:words], labels, np.array(counts[words:], np.int64)


def _features(path: Path, words: list[bytes], inputs: np.ndarray, settings: dict[str, int]
              ) -> tuple[Features, np.ndarray]:
    """The file's rows with </s> first, and without the buckets that are all zeros."""
    if END not in words:
        raise DataError(f"{path}: the dictionary has no word {END.decode()!r}, with which every text ends.")
    if lost := [word.decode() for word in MARKS if word in words]:
        log.info(f"{path}: the words {', '.join(lost)} are marks here: they have no vector.")
    names = [name.encode() for name in spelled(path, words, lambda row: f"word {row + 1:,}")]
    own = [row for row, name in enumerate(names) if name not in (END, *MARKS)]
    used = np.flatnonzero(inputs[len(words) :].any(1))
    shape = Shape(max(1, settings["word_ngrams"]), max(1, settings["min_n"]) if settings["max_n"] else 0,
                  settings["max_n"], max(1, settings["bucket"]))
    order = np.concatenate([[words.index(END)], own, len(words) + used]).astype(np.int64)
    same = len(order) == len(inputs) and (np.diff(order) == 1).all()
    return Features([names[row] for row in own], used, shape), inputs if same else inputs[order]


def write_classifier(path: Path, model: TextClassifier, counts: np.ndarray, prefix: str, epochs: int) -> None:
    """A file that fastText reads. How often words occurred a run does not know: each counts as 1."""
    if not isinstance(model.inputs, np.ndarray):
        raise UsageError(f"{path}: a quantized classifier cannot be written as fastText's .bin. Export the run that it "
                         "was made from.")
    shape, words = model.features.shape, [END, *model.features.words]
    with created(path) as write:
        loss = {name: number for number, name in LOSSES.items()}[model.loss]
        known = dict.fromkeys(SETTINGS, 0) | {
            "dimension": model.inputs.shape[1], "window": 5, "epochs": epochs, "min_count": 1, "negative": 5,
            "word_ngrams": shape.word_ngrams, "loss": loss, "model": SUPERVISED, "bucket": shape.hashed,
            "min_n": shape.min_n, "max_n": shape.max_n, "update_rate": 100}
        write(struct.pack("<ii12id", MAGIC, VERSION, *(known[name] for name in SETTINGS), 1e-4))
        size = len(words) + len(model.labels)
        write(struct.pack("<iiiqq", size, len(words), len(model.labels), len(words) + int(counts.sum()), -1))
        for word in words:
            write(word + b"\0" + struct.pack("<qb", 1, 0))
        for label, count in zip(model.labels, counts.tolist(), strict=True):
            write((prefix + label).encode() + b"\0" + struct.pack("<qb", count, 1))
        write(struct.pack("<?qq", False, len(words) + shape.hashed, known["dimension"]))
        write_rows(write, model.inputs[: len(words)])
        if shape.hashed:
            order = np.argsort(model.features.used, kind="stable")
            write_buckets(write, shape.hashed, np.asarray(model.features.used)[order], model.inputs[len(words) + order])
        write(struct.pack("<?qq", False, len(model.labels), known["dimension"]))
        write_rows(write, model.outputs)
        if len(model.outputs) < len(model.labels):  # the tree has a node less than there are labels
            write_rows(write, np.zeros((1, known["dimension"]), np.float32))
