"""How the next token of each row is chosen: marks, filters and strategy as one function of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from chainrule.arrays import namespace
from chainrule.errors import ChainruleError
from chainrule.generation.rows import Draft, Marks, Rows
from chainrule.protocols import Array

NAN = "the model gives NaN as a probability; its training failed or its weights are damaged."


class Filter(Protocol):
    """Reshapes ln p(·) of each row; what it returns need not sum to one.

    `ids_BT` has the ids that each row has read, padded with <s>, which has no probability. Nothing is looked at on the
    host where the arrays lie on a GPU: the same lines are recorded as a CUDA graph.
    """

    def __call__(self, log_p_BV: Array, ids_BT: Array) -> Array: ...


class Strategy(Protocol):
    """How texts are continued."""

    results: int | None  # how many texts it finds for one prompt; None where each row is another draw

    def extend(self, rows: Rows, log_p_BV: Array) -> Extension:
        """One token more: for each new row its parent, its token and ln p; rows that nothing can follow have none."""
        ...

    def sift(self, rows: Rows, reasons: Sequence[str], done: list[Draft]) -> tuple[np.ndarray, list[Draft]]:
        """Of longer rows, some of which have ended: which go on, and all that are done."""
        ...

    def rank(self, done: Sequence[Draft]) -> list[Draft]:
        """The results for one prompt, best first."""
        ...


@runtime_checkable
class Chooses(Protocol):
    """A strategy that chooses one token for each row by itself, so that a model can write several tokens ahead."""

    def choose(self, log_p_BV: Array, u_B: Array) -> Array:
        """(B,) ids; u_B are random numbers from 0 to 1 for strategies that sample."""
        ...

    def draws(self, numbers: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """(R, N): u for each row's next N positions; the choice depends only on u and ln p."""
        ...


@dataclass(frozen=True)
class Extension:
    """Candidates for the next rows."""

    parents: np.ndarray  # (C,) rows that they continue
    ids: np.ndarray  # (C,)
    log_p: np.ndarray  # (C,) after the filters


@dataclass(frozen=True)
class Choosing:
    """Marks, filters and a strategy that chooses row by row: ln p in, ids out, on the device of ln p."""

    strategy: Chooses
    filters: tuple[Filter, ...]
    marks: Marks

    def __call__(self, log_p_BV: Array, ids_BT: Array, u_B: Array) -> tuple[Array, Array]:
        """(B,) ids, and their ln p after the filters; may write into ln p of tokens that are never written."""
        found_BV = filtered(log_p_BV, ids_BT, self.marks, self.filters, copies=self.marks.unknown is not None)
        ids_B = self.strategy.choose(found_BV, u_B)
        return ids_B, picked(found_BV, ids_B)

    @property
    def key(self) -> tuple[Any, ...]:
        """What the computation depends on: not the seed, which only makes other draws."""
        return (type(self.strategy).__name__, self.marks,
                *((type(each).__name__, *sorted(vars(each).items())) for each in self.filters))


def filtered(log_p_BV: Array, ids_BT: Array, marks: Marks, filters: Sequence[Filter], *, copies: bool = True) -> Array:
    """ln p of the tokens that may be written, after the filters in their order."""
    log_p_BV = mask_special_tokens(log_p_BV, marks, copies=copies)
    for reshape in filters:
        log_p_BV = reshape(log_p_BV, ids_BT)
    return log_p_BV


def mask_special_tokens(log_p_BV: Array, marks: Marks, *, copies: bool = True) -> Array:
    """ln p without <s>, and without the unknown token in the rows where anything else is possible."""
    xp = namespace(log_p_BV)
    log_p_BV = xp.asarray(log_p_BV, copy=True) if copies else log_p_BV
    log_p_BV[:, marks.start] = -xp.inf
    if marks.unknown is None and not isinstance(log_p_BV, np.ndarray):
        return log_p_BV
    if marks.unknown is not None:
        unknown_B = xp.asarray(log_p_BV[:, marks.unknown], copy=True)
        log_p_BV[:, marks.unknown] = -xp.inf
    best_B = xp.max(log_p_BV, axis=1)
    if isinstance(best_B, np.ndarray) and np.isnan(best_B).any():
        raise ChainruleError(NAN)
    if marks.unknown is not None:
        log_p_BV[:, marks.unknown] = xp.where(best_B == -xp.inf, unknown_B, -xp.inf)
    return log_p_BV


def picked(x_BV: Array, ids_B: Array) -> Array:
    """(B,): of each row the number at its id."""
    xp = namespace(x_BV)
    return xp.take_along_axis(x_BV, ids_B[:, None], axis=1)[:, 0]
