"""Words to ids on all cores; equals what chainrule.text.tokenizers.words looks up in a dict, word by word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.kernels.compiled import kernel
from chainrule.threads import frozen, side_by_side

PIECE = 1 << 20  # bytes handed to a thread at a time
SPACES = b"\0\t\n\v\f\r "


class WordTable:
    """A hash table of spellings: whole spellings are compared, so no two words are ever taken for one.

    A slot holds a word's first eight bytes and its length: most words are settled in one look.
    """

    def __init__(self, spellings: Sequence[bytes], marks: Sequence[bytes] = ()):
        self.known = len(spellings)
        spellings = [*spellings, *marks]  # found first, as in a dict that is updated with them
        self.offsets = np.concatenate([[0], np.cumsum([len(s) for s in spellings])]).astype(np.int64)
        self.bytes = np.frombuffer(b"".join(spellings) + b"\0", np.uint8)
        size = 1 << max(4, (2 * len(spellings)).bit_length())
        self.slots = np.zeros((size, 2), np.uint64)  # the first eight bytes; the length and 1 + the word's id
        _fill(self.bytes, self.offsets, self.slots)

    def ids(self, text: bytes, *, unknown: int, marked: int, end: int, stop: bytes) -> np.ndarray:
        """The ids of all words, `marked` for the marks, and `end` for each byte `stop`, which ends a unit."""
        data = np.frombuffer(text, np.uint8)
        lows = _cuts(text, stop)
        spaces = np.isin(np.arange(256), [byte for byte in SPACES if byte != stop[0]])
        found: list[np.ndarray] = [np.zeros(0, np.int32)] * len(lows)

        def work(piece: tuple[int, int, int]) -> None:
            number, low, high = piece
            ids = np.empty(high - low, np.int32)
            size = _look_up(data, low, high, spaces, self.bytes, self.offsets, frozen(self.slots), self.known,
                            unknown, marked, end, stop[0], ids)
            found[number] = ids[:size].copy()

        side_by_side(work, [(i, low, high) for i, (low, high) in enumerate(lows)])
        return np.concatenate(found) if found else np.zeros(0, np.int32)


def _cuts(text: bytes, stop: bytes) -> list[tuple[int, int]]:
    """Ranges of whole units."""
    cuts, low = [], 0
    while low < len(text):
        high = text.find(stop, low + PIECE) + 1 or len(text)
        cuts.append((low, high))
        low = high
    return cuts


@kernel()
def _fill(spelled, offsets, slots):
    for word in range(len(offsets) - 2, -1, -1):  # of equal spellings the last is found first
        low, high = offsets[word], offsets[word + 1]
        key = np.uint64(0)
        for i in range(low, min(high, low + 8)):
            key |= np.uint64(spelled[i]) << np.uint64(8 * (i - low))
        slot = _hash(key, spelled, low, high) & (len(slots) - 1)
        while slots[slot, 1]:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot, 0] = key
        slots[slot, 1] = (np.uint64(high - low) << np.uint64(32)) | np.uint64(word + 1)


@kernel()
def _hash(key, data, low, high):
    """The first eight bytes are in the key; longer words add the others one by one."""
    h = (key ^ np.uint64(high - low)) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(low + 8, high):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(0x7FFFFFFF))


@kernel()
def _look_up(data, low, high, spaces, spelled, offsets, slots, known, unknown, marked, end, stop, ids):
    size, i = 0, low
    while i < high:
        byte = data[i]
        if byte == stop:
            ids[size] = end
            size += 1
            i += 1
        elif spaces[byte]:
            i += 1
        else:
            first, key, shift = i, np.uint64(0), np.uint64(0)
            while i < high and data[i] != stop and not spaces[data[i]]:
                if i - first < 8:
                    key |= np.uint64(data[i]) << shift
                    shift += np.uint64(8)
                i += 1
            word = _find(key, data, first, i, spelled, offsets, slots, unknown)
            ids[size] = word if word < known else marked
            size += 1
    return size


@kernel()
def _find(key, data, low, high, spelled, offsets, slots, unknown):
    slot = _hash(key, data, low, high) & (len(slots) - 1)
    length = np.uint64(high - low)
    while slots[slot, 1]:
        if slots[slot, 0] == key and slots[slot, 1] >> np.uint64(32) == length:
            word = np.int64(slots[slot, 1] & np.uint64(0xFFFFFFFF)) - 1
            if high - low <= 8 or _same(data, low + 8, high, spelled, offsets[word] + 8):
                return word
        slot = (slot + 1) & (len(slots) - 1)
    return unknown


@kernel()
def _same(data, low, high, spelled, begin):
    for j in range(high - low):  # noqa: SIM110, as Numba compiles no generators
        if data[low + j] != spelled[begin + j]:
            return False
    return True
