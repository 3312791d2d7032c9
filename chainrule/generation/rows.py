"""Texts that are being written, one a row, in arrays: what the decoder hands to a strategy; and finished ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np


@dataclass(frozen=True)
class Marks:
    """Ids that are treated apart: `start` is never written, `end` ends a text, `unknown` is a last resort."""

    start: int
    end: int
    unknown: int | None = None


@dataclass(frozen=True)
class Draft:
    """A finished text: the prompt's ids and those written after it."""

    number: int  # of the prompt that it continues
    ids: tuple[int, ...]
    read: int  # how many of the ids were the prompt's
    log_p: float = 0.0  # Σ ln p of the written ids, after the filters: what beams are ranked by
    model_log_p: float = 0.0  # the same by the model itself, before any filter
    reason: str = ""  # why it ended: "end" mark, "stop" string, "length", or "stuck" (nothing had probability)

    @property
    def written(self) -> tuple[int, ...]:
        return self.ids[self.read :]


@dataclass(frozen=True)
class Rows:
    """R texts side by side; row i of the model's state has read the i-th."""

    numbers: np.ndarray  # (R,) the prompt that each continues; random numbers depend on it
    ids: np.ndarray  # (R, room) what was read and written, then <s>
    lengths: np.ndarray  # (R,) how many of them
    read: np.ndarray  # (R,) how many were the prompt's
    most: np.ndarray  # (R,) tokens that may be written
    log_p: np.ndarray  # (R,) Σ ln p of what was written, after the filters
    model_log_p: np.ndarray  # (R,) before them

    @staticmethod
    def begun(prompts: Sequence[np.ndarray], numbers: Sequence[int], max_tokens: int, start: int) -> Rows:
        """Prompts to be continued."""
        lengths = np.array([len(ids) for ids in prompts], np.int64)
        ids_RT = np.full((len(prompts), int(lengths.max(initial=0)) + min(max_tokens, 64)), start, np.int32)
        for row, ids in zip(ids_RT, prompts, strict=True):
            row[: len(ids)] = ids
        zeros = np.zeros(len(prompts))
        return Rows(np.array(numbers, np.int64), ids_RT, lengths, lengths.copy(), np.full(len(prompts), max_tokens),
                    zeros, zeros.copy())

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def written(self) -> np.ndarray:
        """(R,) how many tokens were written."""
        return self.lengths - self.read

    @property
    def left(self) -> np.ndarray:
        """(R,) how many may still be."""
        return self.most - self.written

    def seen(self) -> np.ndarray:
        """(R, T): what each row has read and written, padded with <s>."""
        return self.ids[:, : int(self.lengths.max(initial=0))]

    def taken(self, rows: np.ndarray) -> Rows:
        """Some rows, as often and in the order asked for."""
        return Rows(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})

    def followed_by(self, ids: np.ndarray, log_p: np.ndarray, model_log_p: np.ndarray, start: int) -> Rows:
        """Each row one token longer; the room doubles when it is full. May write into this one's ids."""
        room = self.ids
        if int(self.lengths.max(initial=0)) >= room.shape[1]:
            room = np.concatenate([room, np.full_like(room, start)], axis=1) if room.shape[1] else np.full(
                (len(self), 64), start, np.int32)
        room[np.arange(len(self)), self.lengths] = ids
        return replace(self, ids=room, lengths=self.lengths + 1, log_p=self.log_p + log_p,
                       model_log_p=self.model_log_p + model_log_p)

    def followed_by_several(self, ids_RN: np.ndarray, taken: np.ndarray, log_p_RN: np.ndarray, model_RN: np.ndarray,
                            start: int) -> Rows:
        """Each row longer by so many of its tokens, as a copy."""
        count = ids_RN.shape[1]
        room = max(0, int(self.lengths.max(initial=0)) + count - self.ids.shape[1])
        longer = np.pad(self.ids, ((0, 0), (0, room)), constant_values=start)
        taken_RN = np.arange(count) < taken[:, None]
        np.put_along_axis(longer, self.lengths[:, None] + np.arange(count), np.where(taken_RN, ids_RN, start), axis=1)
        sums = [np.where(taken_RN, each, 0.0).sum(1, dtype=np.float64) for each in (log_p_RN, model_RN)]
        return replace(self, ids=longer, lengths=self.lengths + taken, log_p=self.log_p + sums[0],
                       model_log_p=self.model_log_p + sums[1])

    def cut(self, row: int, length: int, start: int) -> None:
        """Drops what stands behind a place of a row."""
        self.ids[row, length:], self.lengths[row] = start, length

    def last(self) -> np.ndarray:
        """(R,): the last token of each row."""
        return self.ids[np.arange(len(self)), self.lengths - 1]

    def draft(self, row: int, reason: str) -> Draft:
        """A row that has ended."""
        return Draft(int(self.numbers[row]), tuple(self.ids[row, : self.lengths[row]].tolist()), int(self.read[row]),
                     float(self.log_p[row]), float(self.model_log_p[row]), reason)

    @staticmethod
    def joined(parts: Sequence[Rows], start: int) -> Rows:
        """The rows of several, one after the other."""
        room = max(each.ids.shape[1] for each in parts)
        wide = [np.pad(each.ids, ((0, 0), (0, room - each.ids.shape[1])), constant_values=start) for each in parts]
        return Rows(**{each.name: np.concatenate(wide if each.name == "ids" else
                                                 [getattr(part, each.name) for part in parts])
                       for each in fields(Rows)})
