"""Another sampling rate for a sound: a sinc that is cut off by a Kaiser window."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

ZEROS = 16  # crossings of the sinc on each side of a sample
BETA = 8.0  # of the window: what lies beyond the band is damped by about 80 dB
BAND = 0.95  # of the lower rate's half that is kept


def resampled(samples: np.ndarray, rate: int, wanted: int) -> np.ndarray:
    r"""The sound at another rate, with all that the lower rate cannot have damped first.

    y(n) = Σ_k x(k) c sinc(c (k − n r/w)) kaiser((k − n r/w) / K),   c = BAND · min(1, w/r),   K = ZEROS / c

    of r samples a second, w wanted: Smith 2002, "Digital audio resampling". r/w is a fraction M/L in lowest terms, so
    n r/w has L different fractional parts and there are L filters (Crochiere & Rabiner 1983, §3.4: polyphase).
    """
    if rate == wanted:
        return samples
    shared = math.gcd(rate, wanted)
    step, phases = rate // shared, wanted // shared  # M, L
    filters_LK, reach = _filters(step, phases)
    count = -(-len(samples) * phases // step)
    padded = np.pad(samples.astype(np.float32), (reach, reach + step))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
    found = np.empty(count, np.float32)
    for phase in range(min(phases, count)):
        own = len(range(phase, count, phases))
        found[phase::phases] = windows[phase * step // phases::step][:own] @ filters_LK[phase]
    return found


@lru_cache(8)
def _filters(step: int, phases: int) -> tuple[np.ndarray, int]:
    """(L, taps): a filter for each fractional part, and how many samples it reaches to each side."""
    cutoff = BAND * min(1.0, phases / step)
    half = ZEROS / cutoff
    reach = math.ceil(half)
    part_L1 = (np.arange(phases) * step % phases / phases)[:, None]
    t_LK = np.arange(-reach, reach + 1) - part_L1
    window = np.i0(BETA * np.sqrt(np.maximum(0, 1 - (t_LK / half) ** 2))) / np.i0(BETA)
    filters = cutoff * np.sinc(cutoff * t_LK) * np.where(np.abs(t_LK) <= half, window, 0)
    return (filters / filters.sum(axis=1, keepdims=True)).astype(np.float32), reach
