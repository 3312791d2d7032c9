"""ln p of every token of a corpus, in bounded memory and in batches of similar length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chainrule.arrays import to_numpy
from chainrule.errors import ChainruleError
from chainrule.protocols import Array, LanguageModel, ScoresUnits, Shortenable

BATCH = 1 << 16  # tokens that a model scores at once, padding included
WINDOW = 1 << 20  # tokens among which units of similar length are looked for


def token_log_probs(model: LanguageModel, ids: np.ndarray, ends: np.ndarray, *, pad: int) -> np.ndarray:
    """(T,): ln p(ids[t] | <s>, its unit up to t) of a flat stream whose unit r ends just before `ends[r]`."""
    found = [log_p for _, log_p in windows(model, ids, ends, pad=pad)]
    return np.concatenate(found) if found else np.zeros(0)


def windows(model: LanguageModel, ids: np.ndarray, ends: np.ndarray, *, pad: int) -> Iterator[tuple[int, np.ndarray]]:
    """The same in pieces: (index of the first token, ln p of the tokens from there), in the order of the stream."""
    starts = np.concatenate([[0], ends[:-1]])
    is_long = ends - starts > BATCH
    first = 0
    while first < len(ends):
        if is_long[first]:
            yield from _long_unit(model, ids, int(starts[first]), int(ends[first]))
            first += 1
            continue
        last = max(first + 1, int(np.searchsorted(ends, starts[first] + WINDOW, side="right")))
        last = first + int(np.append(is_long[first:last], True).argmax())
        yield int(starts[first]), _window(model, ids, starts[first:last], ends[first:last], pad)
        first = last


def _window(model, ids, starts, ends, pad) -> np.ndarray:
    base = starts[0]
    flat = np.asarray(ids[base : ends[-1]], dtype=np.int32)
    if isinstance(model, ScoresUnits):
        return unless_nan(model.score_units(flat))
    starts, lengths = starts - base, ends - starts
    log_p = np.empty(len(flat))
    for rows in batches(lengths):
        time_T = np.arange(lengths[rows].max())
        real_BT = time_T < lengths[rows, None]
        index_BT = np.where(real_BT, starts[rows, None] + time_T, 0)
        ids_BT = np.where(real_BT, flat[index_BT], np.int32(pad))
        log_p[index_BT[real_BT]] = unless_nan(model.score(ids_BT))[real_BT]
    return log_p


def unless_nan(log_p: Array) -> np.ndarray:
    """The model's log-probabilities; NaN is an error."""
    found = to_numpy(log_p)
    if np.isnan(found).any():
        raise ChainruleError("the model gives NaN as a probability; its training failed or its weights are damaged.")
    return found


def batches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Row numbers by similar length; rows × longest is at most BATCH, unless a single row is longer."""
    order = np.argsort(lengths, kind="stable")
    sorted_lengths = lengths[order]
    first = 0
    while first < len(order):
        ahead = sorted_lengths[first : first + BATCH // max(1, int(sorted_lengths[first])) + 1]
        count = max(1, int(np.searchsorted(ahead * np.arange(1, len(ahead) + 1), BATCH, side="right")))
        yield order[first : first + count]
        first += count


def _long_unit(model, ids, start: int, end: int) -> Iterator[tuple[int, np.ndarray]]:
    """A unit longer than a batch: in overlapping pieces where the model's memory is bounded, otherwise whole."""
    context = model.context if isinstance(model, Shortenable) else end - start
    size = max(BATCH, context)
    for first in range(start, end, size):
        read = min(context, first - start)
        piece = np.asarray(ids[first - read : min(first + size, end)], dtype=np.int32)
        yield first, np.asarray(unless_nan(model.score(piece[None]))[0, read:], dtype=np.float64)
