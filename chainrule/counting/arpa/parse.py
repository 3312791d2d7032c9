"""Blocks of lines as arrays: ids, log-probabilities and back-offs of many n-grams at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

Lookup = Callable[[list[bytes]], Iterable[int]]  # the id of each word, −1 for a word that is not in the vocabulary
IS_SPACE = np.isin(np.arange(256), list(b"\t\n\v\f\r "))  # where bytes.split splits


@dataclass(frozen=True)
class Rows:
    """n-grams in the order of the file; log10 as in the file."""

    ids: np.ndarray  # int32 (m, n)
    log_probs: np.ndarray  # float64 (m,)
    backoffs: np.ndarray  # float64 (m,): 0 where the line has none

    def __len__(self) -> int:
        return len(self.ids)


class BadLine(Exception):
    """The first line of a block that is not an n-gram, and why."""

    def __init__(self, row: int, problem: str):
        super().__init__(problem)
        self.row, self.problem = row, problem


def parse_plainly(block: bytes, order: int, *, top: bool, lookup: Lookup) -> Rows:
    """All lines of a block (each ends with a line feed); `kernels.arpa_read` gives the same rows."""
    rows = _rows(block, order, lookup)
    if rows is None or not _sound(rows, top):
        for row, line in enumerate(block.split(b"\n")[:-1]):
            if problem := _problem(line.split(), order, top, lookup):
                raise BadLine(row, problem)
    assert rows is not None, "a block without a bad line must have rows"
    return rows


def _rows(block: bytes, order: int, lookup: Lookup) -> Rows | None:
    """None where a line has too few or too many fields, or no number where one belongs."""
    fields, sizes = np.array([*block.split(), b""], dtype=object)[:-1], _fields_per_line(block)
    weighted = sizes == order + 2
    if not (weighted | (sizes == order + 1)).all():
        return None
    first = np.cumsum(sizes) - sizes
    ids, backoffs = np.empty((len(sizes), order), np.int32), np.zeros(len(sizes))
    try:
        log_probs = _numbers(fields[first])
        backoffs[weighted] = _numbers(fields[first[weighted] + order + 1])
    except ValueError:
        return None
    for k in range(order):
        words = fields[first + 1 + k].tolist()
        ids[:, k] = np.fromiter(lookup(words), np.int32, len(words))
    return Rows(ids, log_probs, backoffs)


def _fields_per_line(block: bytes) -> np.ndarray:
    data = np.frombuffer(block, np.uint8)
    space = IS_SPACE[data]
    begins = ~space
    begins[1:] &= space[:-1]
    ends = np.flatnonzero(data == ord("\n"))
    return np.diff(np.cumsum(begins)[ends], prepend=0)


def _numbers(fields: np.ndarray) -> np.ndarray:
    if b"_" in b"".join(fields):  # Python reads 1_000 as a number
        raise ValueError
    return np.fromiter(map(float, fields), np.float64, len(fields))


def _sound(rows: Rows, top: bool) -> bool:
    weights_fit = (rows.backoffs == 0).all() if top else (rows.backoffs < np.inf).all()
    return bool((rows.log_probs <= 0).all() and weights_fit and (rows.ids >= 0).all())


def _problem(fields: list[bytes], order: int, top: bool, lookup: Lookup) -> str | None:
    """What is wrong with one line, if anything is."""
    words = fields[1:order + 1]
    if len(fields) not in (order + 1, order + 2):
        return (f"{max(len(fields) - 1, 0)} fields after the log-probability, expected {order} "
                f"word{'s' if order > 1 else ''} and at most one back-off weight.")
    log_prob, backoff = _number(fields[0]), _number(fields[order + 1]) if len(fields) == order + 2 else 0.0
    if log_prob is None or not log_prob <= 0:
        return f"log-probability {shown(fields[0])}, expected a number that is at most 0."
    if backoff is None or not backoff < math.inf:
        return f"back-off weight {shown(fields[-1])}, expected a number."
    if top and backoff != 0:
        return f"back-off weight {shown(fields[-1])} at the highest order, expected none or 0."
    unknown = [word for word, i in zip(words, lookup(words), strict=True) if i < 0]
    return f"the word {shown(unknown[0])} is not among the 1-grams." if unknown else None


def _number(field: bytes) -> float | None:
    try:
        return float(field) if b"_" not in field else None
    except ValueError:
        return None


def shown(field: bytes | None) -> str:
    """A field or line in an error message."""
    if field is None:
        return "the file ends here"
    text = field.decode(errors="replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")
