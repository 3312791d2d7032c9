"""Sums of a model's losses over groups of tokens: the one table that every metric is computed from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol, runtime_checkable

import numpy as np

from chainrule.evaluation.scoring import windows
from chainrule.protocols import LanguageModel, Tokenizer


class Units(Protocol):
    """An encoded corpus: a flat stream of ids; unit r ends just before `ends[r]` and has `bytes[r]` bytes of text."""

    @property
    def ids(self) -> np.ndarray: ...

    @property
    def ends(self) -> np.ndarray: ...

    @property
    def bytes(self) -> np.ndarray: ...

    @property
    def lost(self) -> int | None:
        """Bytes of text left out; None where the tokenizer loses white space without counting it."""
        ...


@runtime_checkable
class Measured(Protocol):
    """A tokenizer that knows how many bytes of text each token stands for."""

    def byte_lengths(self) -> np.ndarray | None: ...


@dataclass(frozen=True)
class Totals:
    """Sums over each of R groups of tokens. Losses are in nats; an impossible token's loss is infinite."""

    nll: np.ndarray
    known_nll: np.ndarray  # without the unknown tokens'
    tokens: np.ndarray
    unknown: np.ndarray
    impossible: np.ndarray
    bytes: np.ndarray

    def summed(self) -> Totals:
        """All groups together: each field one number."""
        return Totals(*(getattr(self, field.name).sum() for field in fields(self)))

    def grouped(self, firsts: np.ndarray) -> Totals:
        """Larger groups of neighbors; `firsts` are the first of each, from 0 on."""
        return Totals(*(np.add.reduceat(getattr(self, field.name), firsts) for field in fields(self)))


def unit_totals(model: LanguageModel, tokenizer: Tokenizer, encoded: Units) -> Totals:
    """One group for each unit."""
    return _totals(model, tokenizer, encoded, np.asarray(encoded.bytes, dtype=np.float64), np.asarray(encoded.ends))


def block_totals(model: LanguageModel, tokenizer: Tokenizer, encoded: Units, size: int) -> Totals:
    """One group for each `size` tokens of the stream, for texts of few units."""
    ends = np.minimum(np.arange(size, len(encoded.ids) + size, size), len(encoded.ids))
    return _totals(model, tokenizer, encoded, block_bytes(tokenizer, encoded, size), ends)


def block_bytes(tokenizer: Tokenizer, encoded: Units, size: int) -> np.ndarray:
    """The bytes of text in each block: those of its tokens where they are known, otherwise an even share."""
    starts = np.arange(0, len(encoded.ids), size)
    lengths_V = tokenizer.byte_lengths() if isinstance(tokenizer, Measured) else None
    if lengths_V is None:
        return np.diff(starts, append=len(encoded.ids)) * (encoded.bytes.sum() / len(encoded.ids))
    found = np.array([lengths_V[encoded.ids[start : start + size]].sum() for start in starts], dtype=np.float64)
    ends = np.bincount((encoded.ends - 1) // size, minlength=len(starts))
    return found + ends * (encoded.bytes.sum() - found.sum()) / len(encoded.ends)  # newlines that end units


def _totals(model: LanguageModel, tokenizer: Tokenizer, encoded: Units, bytes_R: np.ndarray,
            ends_R: np.ndarray) -> Totals:
    """The sums over the tokens up to each of the `ends_R`; a group may lie in several windows."""
    columns = np.zeros((len(fields(Totals)) - 1, len(bytes_R)))
    for first, log_p in windows(model, encoded.ids, encoded.ends, pad=tokenizer.end):
        last = first + len(log_p)
        base, stop = (int(np.searchsorted(ends_R, index, side="right")) for index in (first, last - 1))
        begins = np.concatenate([[0], ends_R[base:stop] - first])
        unknown = encoded.ids[first : first + len(log_p)] == (-1 if tokenizer.unknown is None else tokenizer.unknown)
        values = (-log_p, np.where(unknown, 0, -log_p), np.ones(len(log_p), np.int8), unknown, log_p == -np.inf)
        for column, value in zip(columns, values, strict=True):
            column[base : stop + 1] += np.add.reduceat(value, begins, dtype=np.float64)
    nll, known_nll, tokens, unknown, impossible = columns
    return Totals(nll, known_nll, tokens, unknown, impossible, bytes_R)
