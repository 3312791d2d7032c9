"""What a model's losses add up to, for each group of tokens: the one table that every metric is computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Protocol

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


def unit_totals(model: LanguageModel, tokenizer: Tokenizer, encoded: Units) -> Totals:
    """One group for each unit."""
    return _totals(model, tokenizer, encoded, len(encoded.ends), lambda index, unit: unit)


def block_totals(model: LanguageModel, tokenizer: Tokenizer, encoded: Units, size: int) -> Totals:
    """One group for each `size` tokens of the stream, for texts of few units; a unit's bytes are spread evenly."""
    blocks = -(-len(encoded.ids) // size)
    return _totals(model, tokenizer, encoded, blocks, lambda index, unit: index // size)


def _totals(model: LanguageModel, tokenizer: Tokenizer, encoded: Units, groups: int,
            group_of: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Totals:
    columns = np.zeros((len(fields(Totals)), groups))
    lengths = np.diff(encoded.ends, prepend=0)
    for first, log_p in windows(model, encoded.ids, encoded.ends, pad=tokenizer.end):
        index = np.arange(first, first + len(log_p))
        unit = np.searchsorted(encoded.ends, index, side="right")
        group = group_of(index, unit)
        base, stop = int(group[0]), int(group[-1]) + 1
        unknown = encoded.ids[first : first + len(log_p)] == (-1 if tokenizer.unknown is None else tokenizer.unknown)
        values = (-log_p, np.where(unknown, 0.0, -log_p), np.ones(len(log_p)), unknown, log_p == -np.inf,
                  encoded.bytes[unit] / lengths[unit])
        for column, value in zip(columns, values, strict=True):
            column[base:stop] += np.bincount(group - base, weights=value, minlength=stop - base)
    return Totals(*columns)
