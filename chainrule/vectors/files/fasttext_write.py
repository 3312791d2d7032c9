"""Writing a fastText model file (.bin), in a stream: most of it are buckets, and most of those are empty."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from chainrule.storage.files import created
from chainrule.vectors.files.fasttext_layout import MAGIC, SETTINGS, VERSION

ROWS = 1 << 14  # written at a time


def write_fasttext(path: Path, settings: dict[str, int], sample: float, words: Sequence[str], counts: np.ndarray,
                   tables: dict[str, np.ndarray]) -> None:
    """`tables`: `words` (V, D), `outputs` (V, D), and with n-grams `grams` (G, D) of the sorted `buckets` (G,)."""
    with created(path) as write:
        write(struct.pack("<ii", MAGIC, VERSION))
        write(struct.pack("<12id", *(settings[name] for name in SETTINGS), sample))
        write(struct.pack("<iiiqq", len(words), len(words), 0, int(counts.sum()), -1))
        for word, count in zip(words, counts.tolist(), strict=True):
            write(word.encode() + b"\0" + struct.pack("<qb", count, 0))
        bucket = settings["bucket"] if settings["max_n"] else 0
        write(struct.pack("<?qq", False, len(words) + bucket, settings["dimension"]))
        write_rows(write, tables["words"])
        if bucket:
            write_buckets(write, bucket, tables["buckets"], tables["grams"])
        write(struct.pack("<?qq", False, *tables["outputs"].shape))
        write_rows(write, tables["outputs"])


def write_rows(write: Callable[[bytes], object], table: np.ndarray) -> None:
    """The numbers of a table."""
    for low in range(0, len(table), ROWS):
        write(np.ascontiguousarray(table[low : low + ROWS], "<f4").tobytes())


def write_buckets(write: Callable[[bytes], object], bucket: int, used: np.ndarray, grams: np.ndarray) -> None:
    """A row for every bucket, zeros where no word has an n-gram."""
    for low in range(0, bucket, ROWS):
        high = min(low + ROWS, bucket)
        block = np.zeros((high - low, grams.shape[1]), "<f4")
        first, last = np.searchsorted(used, [low, high])
        block[used[first:last] - low] = grams[first:last]
        write(block.tobytes())
