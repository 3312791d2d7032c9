"""Strategies that choose one token for each row, whatever the others do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from chainrule.arrays import namespace, sent, to_numpy
from chainrule.generation.choosing import Extension, picked
from chainrule.generation.rows import Draft, Rows
from chainrule.protocols import Array


class RowByRow(ABC):
    """A strategy implements `choose` and `draws`; every row continues until it ends."""

    results: int | None

    @abstractmethod
    def choose(self, log_p_BV: Array, u_B: Array) -> Array:
        """(B,) ids."""

    @abstractmethod
    def draws(self, numbers: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """(R, N): u for each row and position; a choice depends only on u and ln p."""

    def extend(self, rows: Rows, log_p_BV: Array) -> Extension:
        u_B = self.draws(rows.numbers, rows.written[:, None])[:, 0]
        ids_B = self.choose(log_p_BV, sent(u_B, log_p_BV))
        chosen_B = to_numpy(picked(log_p_BV, ids_B))
        possible = np.flatnonzero(chosen_B > -namespace(log_p_BV).inf)
        return Extension(possible, to_numpy(ids_B)[possible], chosen_B[possible])

    def sift(self, rows: Rows, reasons: Sequence[str], done: list[Draft]) -> tuple[np.ndarray, list[Draft]]:
        ended = [rows.draft(row, reason) for row, reason in enumerate(reasons) if reason]
        live = np.array([row for row, reason in enumerate(reasons) if not reason], np.int64)
        return live, done + ended if ended else done

    def rank(self, done: Sequence[Draft]) -> list[Draft]:
        return list(done)
