"""Models that guess tokens which they do not see, on the same held-out windows: what `compare` ranks them by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.evaluation.ranking import Answers, Column, Entry, intervals
from chainrule.jobs import learns_from_validation
from chainrule.protocols import Filler
from chainrule.recipe.registry import build
from chainrule.tasks._batch import IGNORED, Batch
from chainrule.tasks._order import once
from chainrule.text.encoded import Encoded, encode, fit_and_encode

BASELINE = "frequencies of tokens"
ROWS = 32  # windows measured at a time
MOST = 1 << 20  # training tokens that are counted for the baseline


def batches(ids: np.ndarray, context: int, hide: Callable[..., Batch]) -> list[Batch]:
    """A text in windows, every token in one of them, with some of the tokens hidden."""
    return [hide(ids, starts, length, number, fresh=True)
            for number, (starts, length, _) in enumerate(once(len(ids), context, ROWS, carries=False))]


def of_windows(log_p_NV: Any, wanted_N: Any, row_N: Any, rows: int) -> np.ndarray:
    """(R, 3): nats, tokens and right guesses of each window, from tokens to guess and the windows they stand in."""
    nats_N = -log_p_NV.gather(-1, wanted_N[:, None])[:, 0].double().cpu().numpy()
    right_N = (log_p_NV.argmax(-1) == wanted_N).double().cpu().numpy()
    places = row_N.cpu().numpy()
    return np.stack([np.bincount(places, each, rows) for each in (nats_N, np.ones(len(nats_N)), right_N)], axis=1)


def figures(table_R3: np.ndarray, how: Any) -> dict[str, Any]:
    """Loss, accuracy and perplexity of all windows, with intervals over windows."""
    nats, hidden, right = table_R3.sum(axis=0).tolist()
    found = {"loss": nats / hidden, "accuracy": right / hidden, "perplexity": float(np.exp(nats / hidden))}
    if not how.bootstrap:
        return found
    columns = {"loss": ("token_nll", table_R3[:, :2]), "accuracy": ("token_accuracy", table_R3[:, [2, 1]])}
    drawn = {name: intervals([Entry("", (table,))], build("evaluation/measures", measure),
                             draws=min(how.bootstrap, 2_000), seed=how.seed)[0]
             for name, (measure, table) in columns.items()}
    return found | {"interval": {name: each for name, each in drawn.items() if each is not None}}


class HeldOutTokens:
    """Nats per hidden token of held-out windows; beside it the share of them that is guessed right.

    Which tokens are hidden is the same for all models, however each was trained, so all need the same tokenizer and
    the same window.
    """

    units = "windows"
    beside: Mapping[str, Column] = {"accuracy": Column("accuracy")}

    def __init__(self, task: Any, recipe: Any, data: tuple[Sequence[str], Sequence[str] | None], fraction: float,
                 seed: int):
        self.task, self.recipe, self.seed, self.split = task, recipe, seed, fraction
        self.train: Any = task.open(list(data[0]), recipe)
        if data[1] is not None:
            self.held_out, self.split = task.open(list(data[1]), recipe), 0.0
        else:
            self.train, self.held_out = task.split(self.train, fraction, seed)
        self.measure = build("evaluation/measures", "token_nll")
        self.notes: Sequence[str] = (task.ranking_note,)
        if not len(self._held.ids):
            raise DataError(f"{self.held_out.name}: no text, expected some to measure on. Give more text, or name the "
                            "held-out one with --valid FILE.")

    def for_validation(self) -> tuple[Any, Any]:
        return self.task.split(self.train, 0.1, self.seed + 1)

    @cached_property
    def _learned(self) -> tuple[Any, Encoded]:
        """The tokenizer of the text that models learn from, and that text."""
        text = self.for_validation()[0] if learns_from_validation(self.recipe) else self.train
        return fit_and_encode(text, build("text/tokenizers", self.recipe.tokenizer), self.recipe.text)

    @cached_property
    def _held(self) -> Encoded:
        return encode(self.held_out, self._learned[0], self.recipe.text)

    def _batches(self, ids: np.ndarray) -> Iterable[Batch]:
        return batches(ids, self.task.window(self.recipe), self.task.hiding(self._learned[0], self.seed))

    def answers(self, run: Any) -> Answers:
        model: Any = run.offering(Filler, "compare")
        if run.tokenizer.digest() != self._learned[0].digest():
            raise DataError(f"{run.path}: its tokenizer is not the one that the training text gives, expected the same "
                            "for all: only models with the same tokens can be compared. Train it without model.from.")
        return _of(model.answered(self.task, self._batches(self._held.ids)))

    def baselines(self) -> dict[str, Answers]:
        """How often each token is to be guessed in training text, each taken to have been seen once more."""
        targets = [batch.targets for batch in self._batches(self._learned[1].ids[:MOST])]
        wanted = np.concatenate([each[each != IGNORED] for each in targets])
        size = self.task.sizes(self._learned[0].vocabulary_size).vocabulary
        counts_V = np.bincount(wanted, minlength=size) + 1.0
        log_p_V, likeliest = np.log(counts_V / counts_V.sum()), int(counts_V.argmax())
        rows = [((-log_p_V[row]).sum(), len(row), (row == likeliest).sum()) for batch in self._batches(self._held.ids)
                for each in batch.targets for row in [each[each != IGNORED]]]
        return {BASELINE: _of(np.array(rows, np.float64))}

    def facts(self) -> dict[str, Any]:
        return {"train_tokens": len(self._learned[1].ids), "held_out_tokens": len(self._held.ids)}


def _of(table_R3: np.ndarray) -> Answers:
    kept = table_R3[table_R3[:, 1] > 0]
    return Answers(kept[:, :2], {"accuracy": float(kept[:, 2].sum() / kept[:, 1].sum())})
