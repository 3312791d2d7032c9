"""From probabilities of each frame to texts: the best path, and a beam search over prefixes."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

Prefix = tuple[int, ...]
NEVER = -math.inf


def best_path(log_p_TV: np.ndarray, blank: int) -> np.ndarray:
    """The likeliest output of each frame, repetitions and blanks left out: Graves et al. 2006, §3.2."""
    best_T = log_p_TV.argmax(1)
    changed_T = np.concatenate([[True], best_T[1:] != best_T[:-1]]) if len(best_T) else np.zeros(0, bool)
    return best_T[changed_T & (best_T != blank)]


def prefix_search(log_p_TV: np.ndarray, blank: int, beams: int) -> list[tuple[np.ndarray, float]]:
    r"""The `beams` likeliest texts and ln p of each, likeliest first, as far as their prefixes stayed in the beam.

    p_t(ℓ) = p_t⁻(ℓ) + p_t⁺(ℓ), of the paths that spell the prefix ℓ and end with a blank, or with its last token:
    p_t⁻(ℓ) = p_{t−1}(ℓ) p_t(blank)
    p_t⁺(ℓc) = p_{t−1}⁺(ℓc) p_t(c) + p_t(c) (p_{t−1}⁻(ℓ) if ℓ ends with c, else p_{t−1}(ℓ))

    Hannun et al. 2014, arXiv:1408.2873, algorithm 1, without a language model; with a beam that holds every prefix it
    is exact. A frame adds only its `beams` likeliest tokens.
    """
    beam: dict[Prefix, tuple[float, float]] = {(): (0.0, NEVER)}  # ln p⁻, ln p⁺
    for row in log_p_TV:
        tokens = [int(c) for c in np.argsort(-row, kind="stable")[:beams + 1] if c != blank]
        blanks, spoken = defaultdict[Prefix, float](lambda: NEVER), defaultdict[Prefix, float](lambda: NEVER)
        for prefix, (with_blank, with_token) in beam.items():
            both = _plus(with_blank, with_token)
            blanks[prefix] = _plus(blanks[prefix], both + float(row[blank]))
            if prefix:
                spoken[prefix] = _plus(spoken[prefix], with_token + float(row[prefix[-1]]))
            for c in tokens:
                before = with_blank if prefix and prefix[-1] == c else both
                spoken[*prefix, c] = _plus(spoken[*prefix, c], before + float(row[c]))
        found = {prefix: (blanks[prefix], spoken[prefix]) for prefix in [*blanks, *spoken]}
        kept = sorted(found, key=lambda prefix: -_plus(*found[prefix]))[:beams]  # noqa: B023 (sorted at once)
        beam = {prefix: found[prefix] for prefix in kept}
    return [(np.array(prefix, np.int64), _plus(*ends)) for prefix, ends in beam.items() if _plus(*ends) > NEVER]


def _plus(a: float, b: float) -> float:
    """ln(e^a + e^b)."""
    high, low = (a, b) if a >= b else (b, a)
    return high if low == NEVER else high + math.log1p(math.exp(low - high))
