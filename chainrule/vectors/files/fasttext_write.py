"""Writing a fastText model file (.bin), in a stream: most of it are buckets, and most of those are empty."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from chainrule.storage.files import created
from chainrule.vectors.files.fasttext_layout import MAGIC, SETTINGS, VERSION

ROWS = 1 << 14  # written at a time
log = logging.getLogger("chainrule")


def write_fasttext(path: Path, settings: dict[str, int], sample: float, words: Sequence[str], counts: np.ndarray,
                   tables: dict[str, np.ndarray]) -> None:
    """`tables`: `words` (V, D), `outputs` (V, D), and with n-grams `grams` (G, D) of the sorted `buckets` (G,)."""
    bucket = settings["bucket"] if settings["max_n"] else 0
    announce_buckets(path, 2 * len(words), settings["dimension"], (bucket, len(tables.get("buckets", ()))),
                     "model.method.bucket")
    with created(path) as write:
        write(struct.pack("<ii", MAGIC, VERSION))
        write(struct.pack("<12id", *(settings[name] for name in SETTINGS), sample))
        write(struct.pack("<iiiqq", len(words), len(words), 0, int(counts.sum()), -1))
        for word, count in zip(words, counts.tolist(), strict=True):
            write(word.encode() + b"\0" + struct.pack("<qb", count, 0))
        write(struct.pack("<?qq", False, len(words) + bucket, settings["dimension"]))
        write_rows(write, tables["words"])
        if bucket:
            write_buckets(write, bucket, tables["buckets"], tables["grams"])
        write(struct.pack("<?qq", False, *tables["outputs"].shape))
        write_rows(write, tables["outputs"])


def announce_buckets(path: Path, rows: int, dimension: int, hashed: tuple[int, int], option: str, also: str = ""
                     ) -> None:
    """Says how large a file becomes before it is written, where most buckets (all, in use) are empty."""
    bucket, used = hashed
    if 2 * used < bucket:
        log.warning(f"{path}: this file takes about {(rows + bucket) * dimension * 4 / 1e6:,.0f} MB: fastText stores "
                    f"all {bucket:,} buckets of n-grams, of which {used:,} are in use. For a smaller file, {also}train "
                    f"with fewer buckets: {option}={max(2 * used, 1_000)}.")


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
