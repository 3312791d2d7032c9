"""What only fastText's quantized models (.ftz) have: matrices of codes, and a list of the n-grams that were kept.

All numbers are little-endian. A matrix, behind the byte that says that it is quantized: lengths apart: ?; rows,
columns: i8; size of codes: i4; codes: a byte for each piece of each row; a quantizer; with lengths apart a byte for
each row and a second quantizer, for a single number. A quantizer: columns, pieces, width of a piece, width of the last
piece: i4; then of each piece its 256 centroids: f4. The list, which ends the dictionary, has bucket, row: i4 of each
n-gram that was kept, rows counted from the last word's; an n-gram that is not in it does not count.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chainrule.classifying.quantizing import CENTROIDS, QuantizedRows
from chainrule.errors import DataError
from chainrule.vectors.files.fasttext_read import check_shape
from chainrule.vectors.files.reading import Bytes
from chainrule.vectors.files.table import empty_rows

ROWS = 1 << 16  # written at a time


@dataclass(frozen=True)
class Kept:
    """Bucket `buckets[i]` of n-grams has row `rows[i]` behind the words; the list stands at `start` in the file."""

    buckets: np.ndarray
    rows: np.ndarray
    start: int = 0

    @property
    def size(self) -> int:
        """How many rows there must be."""
        return int(self.rows.max(initial=-1)) + 1


def read_kept(data: Bytes, size: int, bucket: int) -> Kept:
    """The list of `size` n-grams; each bucket once."""
    if size > bucket:
        raise data.broken(f"{size:,} kept n-grams, expected at most {bucket:,}, as many as there are buckets")
    start, pairs = data.offset, empty_rows(data.path, size, 2, "<i4")
    data.fill(pairs, "the kept n-grams")
    wrong = (pairs < 0).any(1) | (pairs[:, 0] >= bucket) | (pairs[:, 1] >= size)
    again = np.ones(size, bool)
    again[np.unique(pairs[:, 0], return_index=True)[1]] = False
    if len(bad := np.flatnonzero(wrong | again)):
        found = pairs[bad[0]].tolist()
        raise DataError(f"{data.path}: byte {start + 8 * bad[0]:,}: bucket {found[0]:,} at row {found[1]:,} among the "
                        f"kept n-grams, expected each bucket below {bucket:,} once, and rows below {size:,}.")
    return Kept(pairs[:, 0], pairs[:, 1], start)


def write_kept(write: Callable[[bytes], object], kept: Kept) -> None:
    pairs = np.stack([kept.buckets, kept.rows], 1).astype("<i4")
    for low in range(0, len(pairs), ROWS):
        write(pairs[low : low + ROWS].tobytes())


def read_quantized(data: Bytes, what: str, words: int, dimension: int, rows: int) -> QuantizedRows:
    """The next matrix of the file, which must have these rows, behind the byte that says that it is quantized."""
    apart = data.take(1, what)
    if apart not in (b"\0", b"\1"):
        raise data.broken(f"{what} says {apart[0]} where lengths are apart or not, expected 1 or 0")
    check_shape(data, what, words, dimension, rows)
    size = data.number("<i4", what)
    if rows < 1 or size % rows or not 1 <= size // rows <= dimension:
        raise data.broken(f"{what} has {size:,} codes, expected 1 to {dimension:,} for each of {rows:,} rows")
    codes = empty_rows(data.path, rows, size // rows, "u1")
    data.fill(codes, what)
    centroids = _read_quantizer(data, what, dimension, size // rows)
    if apart == b"\0":
        return QuantizedRows(codes, centroids, dimension)
    lengths = empty_rows(data.path, rows, 1, "u1")
    data.fill(lengths, f"the lengths of {what}")
    known = _read_quantizer(data, f"the lengths of {what}", 1, 1)
    return QuantizedRows(codes, centroids, dimension, lengths[:, 0], known[0, :, 0])


def _read_quantizer(data: Bytes, what: str, dimension: int, places: int) -> np.ndarray:
    """(P, 256, piece) centroids; the last piece is filled up with zeros."""
    width, count, piece, last = (data.number("<i4", f"the quantizer of {what}") for _ in range(4))
    if (width, count) != (dimension, places) or piece < 1 or last != dimension - (places - 1) * piece or \
            not 1 <= last <= piece:
        raise data.broken(f"the quantizer of {what} cuts {width:,} numbers into {count:,} pieces of {piece:,}, the "
                          f"last of {last:,}, expected {dimension:,} in {places:,}")
    flat = empty_rows(data.path, dimension, CENTROIDS)
    data.rows(flat, f"the quantizer of {what}")
    piece = min(piece, dimension)  # one that is wider than a row
    centroids, whole = np.zeros((places, CENTROIDS, piece), np.float32), (places - 1) * piece
    centroids[:-1] = flat[:whole].reshape(places - 1, CENTROIDS, piece)
    centroids[-1, :, :last] = flat[whole:].reshape(CENTROIDS, last)
    return centroids


def write_quantized(write: Callable[[bytes], object], rows: QuantizedRows) -> None:
    """A matrix with the byte that says that it is quantized."""
    apart = rows.norm_codes is not None and rows.norm_centroids is not None
    write(struct.pack("<??qqi", True, apart, len(rows), rows.width, rows.codes.size))
    for low in range(0, len(rows), ROWS):
        write(rows.codes[low : low + ROWS].tobytes())
    _write_quantizer(write, rows.centroids, rows.width)
    if rows.norm_codes is not None and rows.norm_centroids is not None:
        write(rows.norm_codes.tobytes())
        _write_quantizer(write, rows.norm_centroids[None, :, None], 1)


def _write_quantizer(write: Callable[[bytes], object], centroids: np.ndarray, width: int) -> None:
    places, _, piece = centroids.shape
    last = width - (places - 1) * piece
    write(struct.pack("<4i", width, places, piece, last))
    write(centroids[:-1].astype("<f4").tobytes())
    write(centroids[-1, :, :last].astype("<f4").tobytes())
