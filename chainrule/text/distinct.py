"""How many different lines there are, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ROOM = 1 << 21  # hashes kept


class Distinct:
    """Counts distinct byte strings by their hashes; past ROOM of them it keeps every second hash, then every fourth, …

    Adaptive sampling (Wegman; Flajolet 1990, Computing 43): distinct ≈ 2^depth · |hashes ending in depth zero bits|,
    with a standard error of about 1.2/√ROOM.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room, self.depth = room, 0
        self.hashes: np.ndarray = np.zeros(0, np.int64)
        self.waiting: list[np.ndarray] = []

    @property
    def exact(self) -> bool:
        return self.depth == 0

    def add(self, items: Sequence[bytes]) -> None:
        found = np.fromiter(map(hash, items), np.int64, len(items))
        self.waiting.append(found[found & ((1 << self.depth) - 1) == 0])
        if sum(map(len, self.waiting)) > self.room // 2:
            self._merge()

    def count(self) -> int:
        self._merge()
        return len(self.hashes) << self.depth

    def _merge(self) -> None:
        self.hashes = np.unique(np.concatenate([self.hashes, *self.waiting]))
        self.waiting = []
        while len(self.hashes) > self.room:
            self.depth += 1
            self.hashes = self.hashes[self.hashes & ((1 << self.depth) - 1) == 0]
