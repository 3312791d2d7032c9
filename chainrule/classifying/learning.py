"""Training a classifier: threads take chunks of the texts and update the same rows without locks (hogwild)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import Any

import numpy as np

from chainrule.classifying.features import Bags
from chainrule.classifying.targets import Targets
from chainrule.errors import OptionError
from chainrule.threads import side_by_side
from chainrule.vectors.training_options import Progress, TrainingOptions, padded
from chainrule.vectors.windows import seed_of

LOSSES = ("softmax", "hierarchical_softmax", "one_vs_all", "negative_sampling")  # by their numbers in the kernel
CHUNK = 20_000  # members of texts that a thread takes at a time
LINE = 8  # numbers in a cache line: threads count in lines of their own
ROWS = 1 << 15  # rows that a thread fills with random numbers at a time
LOOKED = 0.1  # of a budget of seconds, before the speed says how much of the text fits into it


def fresh(rows: int, outputs: int, options: TrainingOptions) -> tuple[np.ndarray, np.ndarray]:
    """Inputs between −1/D and 1/D, outputs of zero; rows are padded to whole cache lines."""
    from chainrule.kernels.classifier_training import fill_random

    inputs, seed = padded(rows, options.dimension), seed_of(options.seed, 0)
    fill_random(inputs, 0, 0, options.dimension, seed)
    side_by_side(lambda low: fill_random(inputs, low, min(low + ROWS, rows), options.dimension, seed),
                 range(0, rows, ROWS))
    return inputs, padded(outputs, options.dimension)


def learn(bags: Bags, targets: Targets, options: TrainingOptions, loss: str, inputs: np.ndarray, outputs: np.ndarray, *,
          negative: int = 5, after_epoch: Callable[[int], int | None] | None = None) -> dict[str, Any]:
    """Trains the tables in place; facts for the report. One thread and a seed give the same bytes again.

    The step falls linearly from α to 0 with the features that were read: Joulin et al. 2016, §2. Texts come in a random
    order, the same in each pass, so that a file sorted by label does no harm. `negative` labels are drawn for each text
    where the loss is negative_sampling, by the root of their counts, as in fastText. With `after_epoch(epoch)` all
    threads wait for each other after each pass; where it gives a number, the step falls to 0 over so many further
    passes, which are the last. Training ends after `options.seconds`, too: where the passes do not fit, the step
    falls to 0 with the time.
    """
    shared = _SharedTraining(bags, targets, options, loss, inputs, outputs, negative)
    pieces = shared.pieces()
    shared.work(0, iter([(0, 0, 0)]))  # compiles, or loads what was compiled before
    shared.begin()
    if after_epoch is None:
        shared.run((low, high, 1 + epoch * len(pieces) + number) for epoch in range(options.epochs)
                   for number, (low, high) in enumerate(pieces))
    epoch, last = 0, 0 if after_epoch is None else options.epochs
    while after_epoch is not None and epoch < last and not shared.stop.is_set():
        shared.run((low, high, 1 + epoch * len(pieces) + number) for number, (low, high) in enumerate(pieces))
        epoch += 1
        if (left := after_epoch(epoch)) is not None:
            last = epoch + left
            shared.cool_down(left)
    if not (np.isfinite(outputs).all() and np.isfinite(inputs[0]).all()):  # row 0, </s>, is in every text
        raise OptionError("training.lr", options.alpha, "a smaller learning rate: training diverged",
                          f"Try training.lr={options.alpha / 10:g}.")
    return {"features_per_second": round(shared.progress.words_per_second),
            **({"passes": round(shared.progress.done / max(shared.one_pass, 1), 2)} if shared.stop.is_set() else {})}


class _SharedTraining:
    """What the threads of a training share: the order of the texts, and how many features each has read."""

    def __init__(self, bags: Bags, targets: Targets, options: TrainingOptions, loss: str, inputs: np.ndarray,
                 outputs: np.ndarray, negative: int):
        self.bags, self.targets, self.options, self.inputs, self.outputs = bags, targets, options, inputs, outputs
        self.tree, self.loss, self.negative = targets.tree(loss), LOSSES.index(loss), negative
        self.noise = np.cumsum(np.sqrt(targets.counts))
        taught = np.arange(len(bags), dtype=np.int32) if targets.taught is None else targets.taught
        self.order = np.random.default_rng(options.seed).permutation(taught)
        self.one_pass, self.alpha = float(bags.sizes[taught].sum(dtype=np.float64)), options.alpha
        self.progress, self.lock, self.stop = Progress(options, self.one_pass * options.epochs), Lock(), Event()
        self.read = np.zeros((options.threads, LINE), np.int64)
        self.seconds: float | None = None
        self.began, self.whole = 0.0, self.progress.total

    def begin(self) -> None:
        """From here on the time counts: compiling is no training."""
        self.seconds, self.began = self.options.seconds, time.perf_counter()

    def pieces(self) -> list[tuple[int, int]]:
        """Ranges of the order with about CHUNK members each."""
        ends = np.cumsum(np.diff(self.bags.starts)[self.order])
        cuts = np.unique(np.searchsorted(ends, np.arange(CHUNK, int(ends[-1]) if len(ends) else 0, CHUNK)))
        edges = [0, *cuts[cuts > 0].tolist(), len(self.order)]
        return list(zip(edges[:-1], edges[1:], strict=True))

    def cool_down(self, passes: int) -> None:
        """From now on the step falls linearly to 0 over so many passes: α and total are those of the new line."""
        if passes:
            done = float(self.read[:, 0].sum())
            step = self.alpha * max(1 - done / self.progress.total, 0.0)
            self.progress.total = done + passes * self.one_pass
            self.alpha, self.whole = step * self.progress.total / (passes * self.one_pass), self.progress.total

    def run(self, pieces: Iterator[tuple[int, int, int]]) -> None:
        """All pieces, on all threads; after Ctrl-C each thread stops at the end of its piece."""
        if self.options.threads == 1:
            return self.work(0, pieces)
        with ThreadPoolExecutor(self.options.threads) as pool:
            try:
                left = {pool.submit(self.work, own, pieces) for own in range(self.options.threads)}
                while left:  # a signal that comes just before it waits does not wake it: it looks ten times a second
                    done, left = wait(left, timeout=0.1, return_when=FIRST_EXCEPTION)
                    for each in done:
                        each.result()  # raises what a worker raised
            except BaseException:
                self.stop.set()
                raise
        return None

    def work(self, own: int, pieces: Iterator[tuple[int, int, int]]) -> None:
        from chainrule.kernels.classifier_training import learn_texts

        bags, targets, tree = self.bags, self.targets, self.tree
        while not self.stop.is_set():
            with self.lock:
                piece = next(pieces, None)
            if piece is None:
                return
            low, high, number = piece
            read = learn_texts(self.inputs, self.outputs, bags.starts, bags.members, bags.weights, bags.sizes,
                               targets.starts, targets.labels, self.order, low, high, np.float32(self.alpha),
                               self.progress.total, self.read, own, self.loss, tree.starts, tree.nodes, tree.codes,
                               self.noise, self.negative, seed_of(self.options.seed, number))
            with self.lock:
                self.progress.add(read)
                self._keep_to_budget()

    def _keep_to_budget(self) -> None:
        """Shortens training to what fits into the seconds at the speed so far; it ends when they are spent."""
        if self.seconds is None:
            return
        spent = time.perf_counter() - self.began
        if spent >= self.seconds:
            self.stop.set()
        elif spent >= LOOKED * self.seconds:
            self.progress.total = min(self.whole, max(1.0, self.progress.done * self.seconds / spent))

