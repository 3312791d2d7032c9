"""Training options of word vectors and text classifiers, their progress, and initial tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 4096  # filled at a time


@dataclass(frozen=True)
class TrainingOptions:
    """The options that all methods share, with word2vec's names."""

    dimension: int = 100
    window: int = 5
    epochs: int = 5
    alpha: float = 0.025  # initial learning rate; it falls linearly to min_alpha
    min_alpha: float = 0.0001
    sample: float = 0.001  # frequent words are left out at random: Mikolov et al. 2013; 0 keeps all
    threads: int = 1
    seed: int = 0
    folder: Path | None = None  # for large temporary files; None is the system's default
    seconds: float | None = None  # of classifiers: training ends after so many
    show: Callable[[Mapping[str, Any]], None] | None = None

    def alpha_at(self, share: float) -> float:
        """The learning rate when a share of the work is done."""
        return max(self.min_alpha, self.alpha - (self.alpha - self.min_alpha) * share)


class Progress:
    """Words done so far, for the learning rate and for progress messages."""

    def __init__(self, options: TrainingOptions, total: float):
        self.options, self.total, self.done = options, max(total, 1), 0
        self.began = self.said = time.perf_counter()

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total)

    def add(self, words: int) -> None:
        """Adds words that were trained on; calls `show` at most ten times a second."""
        self.done += words
        now = time.perf_counter()
        if self.options.show is not None and self.done and now - self.said > 0.1:
            self.said = now
            speed = self.done / (now - self.began)
            self.options.show({"progress": self.share, "words_per_second": speed,
                            "seconds_left": max(0.0, self.total - self.done) / speed})

    @property
    def words_per_second(self) -> float:
        return self.done / max(time.perf_counter() - self.began, 1e-9)


def padded(count: int, dimension: int, like: np.ndarray | None = None) -> np.ndarray:
    """(count, width) zeros that begin at a cache line; the width is rounded up, so that every row begins at one too."""
    width = -(-dimension // 16) * 16
    memory = np.zeros(count * width * 4 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    table = memory[start : start + count * width * 4].view(np.float32).reshape(count, width)
    if like is not None:
        table[: len(like), : like.shape[1]] = like
    return table


def small_random(count: int, dimension: int, seed: int, stream: int) -> np.ndarray:
    """(count, dimension) between −1/D and 1/D, as gensim begins; word2vec's own is half as wide."""
    draws = np.random.default_rng([seed, stream]).random((count, dimension), np.float32)
    draws -= np.float32(0.5)
    draws /= np.float32(dimension / 2)
    return draws


def fill_small_random(table: np.ndarray, dimension: int, seed: int) -> None:
    """The same for a table that is there, a few rows at a time: no second one is needed beside it."""
    random = np.random.default_rng([seed, 0])
    for low in range(0, len(table), ROWS):
        part = table[low : low + ROWS, :dimension]
        part[:] = (random.random(part.shape, np.float32) - np.float32(0.5)) / np.float32(dimension / 2)
