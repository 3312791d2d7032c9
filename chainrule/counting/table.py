"""The table of a back-off model: what is stored for each n-gram, and how a word is looked up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from chainrule.counting.counts import Counts
from chainrule.counting.quantized import Quantized, quantized

Numbers = np.ndarray | Quantized


@dataclass(frozen=True)
class TableLevel:
    """All stored n-grams of one order, in lexicographic order. Order 1 has every word, so its node is the word."""

    words: np.ndarray  # int32 (n,)
    log_probs: Numbers  # float32 (n,): ln p(last word | the words before it)
    backoffs: Numbers | None  # float32 (n,): ln γ of the n-gram as a context; None at the top order
    starts: np.ndarray | None  # uint32 (n + 1,): first continuation one level up; None at the top order

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class Table:
    r"""p(w|h) = stored p(hw), or γ(h) p(w|h′) where hw is not stored; γ of a context that is not stored is 1.

    Katz 1987, eq. 6; interpolated methods store the interpolated p(hw), so the same lookup serves them all.
    """

    levels: list[TableLevel]
    start: int
    end: int
    unknown: int | None

    @property
    def order(self) -> int:
        return len(self.levels)

    @property
    def vocabulary_size(self) -> int:
        return len(self.levels[0])

    def tensors(self) -> dict[str, np.ndarray]:
        """What is saved; order 1 stores no words, as they would be 0, 1, 2 …"""
        named = {}
        for n, level in enumerate(self.levels, start=1):
            fields = {"words": level.words if n > 1 else None, "log_probs": level.log_probs,
                      "backoffs": level.backoffs, "starts": level.starts}
            for key, value in fields.items():
                if isinstance(value, Quantized):
                    named[f"order{n}.{key}"], named[f"order{n}.{key}.book"] = value.codes, value.book
                elif value is not None:
                    named[f"order{n}.{key}"] = value
        return named

    @classmethod
    def from_tensors(cls, named: dict[str, np.ndarray], start: int, end: int, unknown: int | None) -> Table:
        levels = []
        order = max(int(key.split(".")[0].removeprefix("order")) for key in named)
        for n in range(1, order + 1):
            log_probs = _numbers(named, f"order{n}.log_probs")
            assert log_probs is not None
            words = named[f"order{n}.words"] if n > 1 else np.arange(len(log_probs), dtype=np.int32)
            backoffs, starts = _numbers(named, f"order{n}.backoffs"), named.get(f"order{n}.starts")
            levels.append(TableLevel(words, log_probs, backoffs, starts))
        return cls(levels, start, end, unknown)

    def compact(self) -> Table:
        """The same table with 16-bit numbers."""
        levels = [replace(level, log_probs=quantized(np.asarray(level.log_probs)),
                          backoffs=None if level.backoffs is None else quantized(np.asarray(level.backoffs)))
                  for level in self.levels]
        return replace(self, levels=levels)


def _numbers(named: dict[str, np.ndarray], key: str) -> Numbers | None:
    if f"{key}.book" in named:
        return Quantized(named[key], named[f"{key}.book"])
    return named.get(key)


def find_continuations(trie: Table | Counts, order: int, contexts: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The node of this order for each (context node, word), −1 where it is not there or the context is −1.

    A binary search in all the contexts' lists at once: as many steps as the longest list needs.
    """
    level, starts = trie.levels[order - 1], trie.levels[order - 2].starts
    assert starts is not None
    if len(level) == 0:  # the text was shorter than the order
        return np.full(len(words), -1)
    known = contexts >= 0
    context = np.where(known, contexts, 0)
    low = starts[context].astype(np.int64)
    high = np.where(known, starts[context + 1].astype(np.int64), low)
    end = high
    while (open_ := low < high).any():
        middle = (low + high) >> 1
        before = open_ & (level.words[np.minimum(middle, len(level) - 1)] < words)
        low = np.where(before, middle + 1, low)
        high = np.where(open_ & ~before, middle, high)
    inside = low < end
    inside[inside] = level.words[low[inside]] == words[inside]
    return np.where(inside, low, -1)
