"""Bits per byte by position in the document, by how often a word was seen in training, and by document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.experiments.excerpts import spread, title
from chainrule.experiments.losses import Losses, document_places
from chainrule.text.corpora.corpus import Corpus

EDGES = [0, 64, 256, 1024, 4096, 16_384, 65_536, 262_144]  # bytes from the beginning of a document
FREQUENCIES = [1, 2, 4, 8, 16, 64, 256, 1024]
COUNTED = 64 << 20  # bytes of training text whose words are counted
DOCUMENTS = 200
WORD = re.compile(r"\s*(?:\w+|[^\w\s])|\s+")  # a word with the white space before it


def by_position(texts: Sequence[bytes], losses: Mapping[str, Losses]) -> dict[str, Any]:
    """Bits per byte of the bytes 0 to 63 of all documents, 64 to 255, and so on."""
    longest = max(map(len, texts))
    edges = [edge for edge in EDGES if edge < longest]
    starts = document_places(texts)[:-1]
    sizes = np.array([len(text) for text in texts])
    values: dict[str, list[float]] = {name: [] for name in losses}
    for low, high in zip(edges, [*edges[1:], longest], strict=True):
        reach = sizes > low
        begin, stop = starts[reach] + low, starts[reach] + np.minimum(sizes[reach], high)
        for name, each in losses.items():
            bits = each.between(np.stack([begin, stop], axis=1).ravel())[::2].sum()
            values[name].append(float(bits / (stop - begin).sum()))
    return {"edges": [*edges, longest], "unit": "bytes", "values": values}


def by_frequency(train: Corpus, texts: Sequence[bytes], losses: Mapping[str, Losses]) -> dict[str, Any]:
    """Bits per byte of words by how often the training text has them."""
    counts = word_counts(train)
    places, classes = [0], []
    for start, text in zip(document_places(texts)[:-1], texts, strict=True):
        place = int(start)
        for found in WORD.finditer(text.decode()):
            place += len(found[0].encode())
            if word := found[0].strip():
                places.append(place)
                classes.append(int(np.searchsorted(FREQUENCIES, counts[word], side="right")))
        places[-1] = place + 1  # white space and the end of the document count with its last word
    class_W, size_W = np.array(classes), np.diff(places)
    bins = len(FREQUENCIES) + 1
    size_F = np.bincount(class_W, weights=size_W, minlength=bins)
    order = [each for each in [*range(1, bins), 0] if size_F[each]]
    values = {}
    for name, each in losses.items():
        bits_F = np.bincount(class_W, weights=each.between(np.array(places)), minlength=bins)
        values[name] = (bits_F[order] / size_F[order]).tolist()
    return {"labels": [LABELS[each] for each in order], "shares": (size_F[order] / size_F.sum()).tolist(),
            "values": values}


def _label(low: int, high: int | None) -> str:
    return f"{low:,} or more" if high is None else str(low) if high == low + 1 else f"{low:,}–{high - 1:,}"


LABELS = ["unseen", *(_label(low, high) for low, high in zip(FREQUENCIES, [*FREQUENCIES[1:], None], strict=True))]


def word_counts(train: Corpus) -> Counter[str]:
    """How often each word occurs in the training text, or in its first COUNTED bytes."""
    counts: Counter[str] = Counter()
    read = 0
    for chunk in train.chunks():
        counts.update(found.strip() for found in WORD.findall(chunk.data.decode()))
        read += len(chunk.data)
        if read >= COUNTED:
            break
    return counts


def by_document(texts: Sequence[bytes], losses: Mapping[str, Losses]) -> dict[str, Any]:
    """Bits per byte of each document, or of some where there are many."""
    places, chosen = document_places(texts), spread(len(texts), DOCUMENTS)
    sizes = np.array([len(text) for text in texts])
    values = {name: (each.between(places) / sizes)[chosen].tolist() for name, each in losses.items()}
    return {"labels": [title(texts[i]) for i in chosen], "bytes": sizes[chosen].tolist(), "values": values}
