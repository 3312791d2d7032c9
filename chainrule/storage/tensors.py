"""Arrays on disk in the safetensors format: written in a stream, read as a memory map, broken headers refused."""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import StorageError

TYPES = {"BOOL": "?", "U8": "<u1", "I8": "<i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4",
         "U64": "<u8", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
NAMES = {np.dtype(code): name for name, code in TYPES.items()}
ALIGNMENT = 64  # bytes: a cache line
CHUNK = 8 * 2**20  # bytes written at a time
LONGEST_HEADER = 100_000_000  # bytes; the format's own limit


def save_tensors(path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> None:
    """Writes arrays of any size in bounded memory, also memory maps; the same arrays give the same bytes.

    The data starts at a multiple of 64 bytes, and so does every array whose own size is such a multiple (they come
    first). The others follow by falling element size, so that each is aligned to its elements; the format allows no
    gaps between arrays.
    """
    order = sorted(tensors, key=lambda name: _rank(name, tensors[name]))
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))} if metadata else {}
    position = 0
    for name in order:
        array = tensors[name]
        end = position + array.nbytes
        header[name] = {"dtype": _type_name(name, array), "shape": list(array.shape), "data_offsets": [position, end]}
        position = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    with path.open("xb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            for block in _blocks(tensors[name]):
                file.write(np.ascontiguousarray(block, block.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data)
                _forget(block)


def open_tensors(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file as read-only views of one memory map: nothing is read before it is used."""
    header, start = _header(path)
    header.pop("__metadata__", None)
    data = np.memmap(path, np.uint8, "r", offset=start) if path.stat().st_size > start else np.empty(0, np.uint8)
    found, expected = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: _offsets(path, *item)):
        begin, end = _offsets(path, name, entry)
        dtype, shape = TYPES.get(str(entry.get("dtype"))), entry.get("shape")
        if dtype is None:
            raise _broken(path, f"{name!r} has dtype {entry.get('dtype')!r}, expected one of {', '.join(TYPES)}")
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
            raise _broken(path, f"{name!r} has shape {shape!r}")
        if begin != expected or end - begin != math.prod(shape) * np.dtype(dtype).itemsize:
            raise _broken(path, f"{name!r} has offsets {begin} to {end}, which do not fit its shape and neighbors")
        expected = end
        if end <= len(data):
            try:
                found[name] = np.ndarray(shape, dtype, data, begin) if end > begin else np.empty(shape, dtype)
            except ValueError:  # [2^62, 0] has no element, and is too large all the same
                raise _broken(path, f"{name!r} has shape {shape!r}") from None
            found[name].flags.writeable = False
    if expected != len(data):
        raise _broken(path, f"{len(data):,} bytes of data, expected {expected:,}")
    return dict(sorted(found.items()))


def tensor_metadata(path: Path) -> dict[str, str]:
    """The text that was saved beside the arrays."""
    return _header(path)[0].get("__metadata__", {})


def _header(path: Path) -> tuple[dict[str, Any], int]:
    with path.open("rb") as file:
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or not 2 <= length <= min(LONGEST_HEADER, path.stat().st_size - 8):
            raise _broken(path, "its length is not a length")
        raw = file.read(length)
    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=_no_repeats)
    except (ValueError, RecursionError) as error:
        raise _broken(path, str(error)) from None
    if not isinstance(header, dict) or not all(isinstance(entry, dict) for entry in header.values()):
        raise _broken(path, "not a table of tensors")
    return header, 8 + length


def _offsets(path: Path, name: str, entry: Mapping[str, Any]) -> tuple[int, int]:
    offsets = entry.get("data_offsets")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(type(n) is int and n >= 0 for n in offsets):
        raise _broken(path, f"{name!r} has offsets {offsets!r}")
    return offsets[0], offsets[1]


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def _broken(path: Path, what: str) -> StorageError:
    return StorageError(f"{path}: broken safetensors header: {what}.")


def _rank(name: str, array: np.ndarray) -> tuple[bool, int, str]:
    return array.nbytes % ALIGNMENT != 0, -array.itemsize, name


def _type_name(name: str, array: np.ndarray) -> str:
    found = NAMES.get(array.dtype.newbyteorder("<"))
    if found is None:
        raise StorageError(f"{name}: arrays of {array.dtype} cannot be saved, expected one of {', '.join(TYPES)}.")
    return found


def _blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    """The array in C order, in pieces of at most CHUNK bytes, without copying the whole."""
    if array.flags.c_contiguous:
        flat, step = array.reshape(-1), max(1, CHUNK // array.itemsize)
        yield from (flat[i:i + step] for i in range(0, flat.size, step))
    elif array[0].nbytes > CHUNK:
        for row in array:
            yield from _blocks(row)
    else:
        step = CHUNK // array[0].nbytes
        yield from (array[i:i + step] for i in range(0, len(array), step))


def _forget(block: np.ndarray) -> None:
    """Lets the system drop the pages of a shared memory map that have been copied: they would count as our memory."""
    base: Any = block
    while isinstance(base, np.ndarray) and not (isinstance(base, np.memmap) and isinstance(base.base, mmap.mmap)):
        base = base.base
    if isinstance(base, np.memmap) and base.mode in ("r", "r+", "w+") and block.flags.c_contiguous:
        whole: Any = base.base
        start = block.ctypes.data - np.frombuffer(whole, np.uint8).ctypes.data
        first = start // mmap.PAGESIZE * mmap.PAGESIZE
        whole.madvise(mmap.MADV_DONTNEED, first, start + block.nbytes - first)
