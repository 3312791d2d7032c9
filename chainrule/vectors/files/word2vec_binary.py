"""word2vec's binary: a line `words numbers`, then each word, a space and its vector as float32."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from chainrule.errors import DataError
from chainrule.storage.files import created, opened
from chainrule.vectors.files.read_text import header_of
from chainrule.vectors.files.reading import Bytes
from chainrule.vectors.files.table import Table, check_size, empty_rows, spelled

ROWS = 1 << 13  # written, or checked for numbers that are not finite, at a time


def read_binary(path: Path) -> Table:
    """Words and vectors; line ends after vectors, which the first program wrote, may be there or not."""
    with opened(path) as stream:
        data = Bytes(path, stream)
        line = data.until(b"\n", "the first line")
        header = header_of(line)
        if header is None:
            raise DataError(f"{path}: byte 0: {line[:40].decode(errors='backslashreplace')!r}, expected two numbers: "
                            "how many words and how many numbers each has.")
        check_size(path, "byte 0", *header)
        return _rows(data, *header)


def _rows(data: Bytes, count: int, dimension: int) -> Table:
    table = empty_rows(data.path, count, dimension)
    starts = np.empty(count, np.int64)
    names: list[bytes] = []
    for row in range(count):
        if data.ended():
            raise data.broken(f"the file ends after {row:,} words, expected {count:,} as its first line announces. "
                              "It may have been cut")
        starts[row] = data.offset
        names.append(data.until(b" ", f"word {row + 1:,}").lstrip(b"\n"))
        table[row] = np.frombuffer(data.take(4 * dimension, f"the vector of word {row + 1:,}"), "<f4")
    if not data.ended() and data.take(1, "the end") != b"\n" or not data.ended():
        raise data.broken(f"more follows after the {count:,} words that the first line announces")
    _check_finite(data.path, table, names, starts)
    return Table(spelled(data.path, names, lambda row: f"byte {starts[row]:,}"), table)


def _check_finite(path: Path, table: np.ndarray, names: Sequence[bytes], starts: np.ndarray) -> None:
    for low in range(0, len(table), ROWS):
        bad = np.flatnonzero(~np.isfinite(table[low : low + ROWS]).all(1))
        if len(bad):
            row = low + int(bad[0])
            name = names[row].decode(errors="backslashreplace")
            raise DataError(f"{path}: byte {starts[row]:,}: the vector of {name!r} has a number that is not finite. "
                            "The file is broken, or has another format.")


def write_binary(path: Path, words: Sequence[str], table: np.ndarray) -> None:
    """The file as word2vec writes it, in a stream."""
    with created(path) as write:
        write(b"%d %d\n" % table.shape)
        for low in range(0, len(table), ROWS):
            rows = np.ascontiguousarray(table[low : low + ROWS], "<f4").tobytes()
            width = 4 * table.shape[1]
            write(b"".join([b"%s %s\n" % (word.encode(), rows[width * n : width * (n + 1)])
                            for n, word in enumerate(words[low : low + ROWS])]))
