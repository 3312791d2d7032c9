"""Suffix links: from each n-gram to the same n-gram without its first word, the place where back-off goes."""

from __future__ import annotations

import numpy as np

from chainrule.counting.count import JIT_PAYS_FROM
from chainrule.counting.counts import Counts, continuation_ids
from chainrule.counting.scratch import Scratch


def suffix_links(counts: Counts, order: int, shorter: np.ndarray, scratch: Scratch) -> np.ndarray:
    """For each n-gram w₁…w_n of this order the node of w₂…w_n; `shorter`: links of order n−1 (none for n = 2)."""
    level, contexts = counts.levels[order - 1], counts.levels[order - 2]
    if order == 2:
        return level.words.astype(np.uint32)
    assert contexts.starts is not None
    search = _links_plainly
    if len(level) >= JIT_PAYS_FROM:
        from chainrule.kernels.links import links as search
    targets = counts.levels[order - 3].starts
    assert targets is not None
    return search(level.words, contexts.starts, shorter, contexts.words, targets, scratch)


def _links_plainly(words: np.ndarray, starts: np.ndarray, shorter: np.ndarray, target_words: np.ndarray,
                   target_starts: np.ndarray, scratch: Scratch) -> np.ndarray:
    """The continuation w_n of w₂…w_{n−1}, looked up among all pairs of a context and a word."""
    size = int(max(words.max(initial=0), target_words.max(initial=0))) + 1
    owners = np.repeat(np.arange(len(target_starts) - 1), np.diff(target_starts))
    wanted = continuation_ids(np.repeat(shorter, np.diff(starts)), size, words)
    return np.searchsorted(continuation_ids(owners, size, target_words), wanted).astype(np.uint32)


def continuation_counts(counts: Counts, order: int, longer: np.ndarray, scratch: Scratch) -> np.ndarray:
    """How many distinct words stand before each n-gram; `longer` are the links of order n+1.

    N₁₊(· w₁…w_n) = |{v : c(v w₁…w_n) > 0}|, but what begins with <s> has no word before it and keeps c(w₁…w_n).
    Chen & Goodman 1998, TR-10-98, §2.7, eq. 24; the treatment of <s> as in KenLM (Heafield et al. 2013).
    """
    level = counts.levels[order - 1]
    if len(longer) >= JIT_PAYS_FROM:
        from chainrule.kernels.links import count_links

        distinct = count_links(longer, len(level), scratch)
    else:
        distinct = np.bincount(longer, minlength=len(level)).astype(np.uint32)
    low, high = counts.begins(order)
    distinct[low:high] = level.counts[low:high]
    return distinct
