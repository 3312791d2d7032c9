"""Validation after each pass over the training texts, and stopping where further passes no longer help."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from chainrule.classifying.features import Bags
from chainrule.classifying.measuring import TEXTS, Tally, spelled, together
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.targets import FEWEST, Targets
from chainrule.errors import DataError
from chainrule.inputs.labeled import Example

log = logging.getLogger("chainrule")
COOL_DOWN = 3  # passes over which the step falls to 0 after a plateau; five were no better on eight sets of texts
REJECTED = 0.05  # of the texts that get their right label, the share that the calibrated threshold rejects
Part = tuple[Bags, np.ndarray]  # texts, and (text, label) pairs


def labeled_parts(model: TextClassifier, examples: Iterable[Example], name: str) -> list[Part]:
    """Validation texts; they become bags once, so that measuring again reads only tables."""
    tally = Tally(model.labels)
    parts = [(model.features.bags([each.text for each in some]), tally.wanted(some)) for some in together(examples)]
    if not parts:
        raise DataError(f"{name}: no text with a label.")
    return parts


def held_out_parts(bags: Bags, targets: Targets, texts: np.ndarray) -> list[Part]:
    """The same of training texts that are held out."""
    parts = []
    for low in range(0, len(texts), TEXTS):
        some = texts[low : low + TEXTS]
        sizes = targets.starts[some + 1] - targets.starts[some]
        places = np.repeat(targets.starts[some] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        pairs = np.stack([np.repeat(np.arange(len(some)), sizes), targets.labels[places]], axis=1)
        parts.append((bags.only(some), np.unique(pairs.astype(np.int64), axis=0)))
    return parts


class Validation:
    """Measures a model after each pass; with `patience` it ends training on a plateau and keeps the best pass.

    A pass is better than another if its accuracy is, or with the same accuracy its log loss. After `patience` passes in
    a row that were not better than the best, training returns to the best and lets the step fall to 0 over three more.
    That last pass is kept unless an earlier one was better by more than the standard error of its accuracy: before the
    step is small, accuracy jumps up and down, and the highest of many jumps is luck.
    """

    def __init__(self, model: TextClassifier, parts: Sequence[Part], epochs: int, patience: int | None,
                 say: Callable[[str], None] = log.info):
        self.model, self.parts, self.epochs, self.patience, self.say = model, parts, epochs, patience, say
        self.rows, self.best, self.cooling = list[dict[str, Any]](), 0, False
        self.kept = np.zeros(0), np.zeros(0)

    def after(self, epoch: int) -> int | None:
        """How many passes are left where training should come to its end; None where it goes on as planned."""
        if not np.isfinite(self.model.outputs).all():  # it diverged, which `learn` says
            return 0
        tally = Tally(self.model.labels)
        for bags, pairs in self.parts:
            tally.add(self.model.logs_of(bags), pairs)
        found = tally.figures()
        self.rows.append({"epoch": epoch, **found})
        self.say(f"epoch {epoch}: {spelled(found)} on {found['examples']:,} texts.")
        if epoch == 1 or goodness(found) > goodness(self.rows[self.best - 1]):
            self.best = epoch
            if self.patience is not None:
                self.kept = np.array(self.model.inputs), np.array(self.model.outputs)
        if self.patience is None or self.cooling or epoch - self.best < self.patience:
            return None
        self.cooling = True
        self._return_to_best()
        return min(COOL_DOWN, self.epochs - epoch)

    def finish(self) -> dict[str, Any]:
        """Returns to the best pass where it was clearly better than the last; facts for the report."""
        last, best = self.rows[-1], self.rows[self.best - 1]
        kept = last
        if self.patience is not None and best["accuracy"] - last["accuracy"] > _standard_error(best):
            kept = best
            self._return_to_best()
        return {"epoch": kept["epoch"], "epochs": len(self.rows),
                "valid": {key: value for key, value in kept.items() if key != "epoch"},
                **self._threshold(), **self._advice()}

    def _return_to_best(self) -> None:
        self.model.inputs[:], self.model.outputs[:] = self.kept  # type: ignore[index]

    def _advice(self) -> dict[str, list[str]]:
        """What to try where the bound of passes ended training while it still improved.

        It did if in their second half accuracy rose by more than twice its standard error, or in their last fifth log
        loss fell by 2 %: as the step falls to 0, the last passes change little, also where much is left to learn.
        """
        last, half, fifth = self.rows[-1], self._ago(self.epochs // 2), self._ago(self.epochs // 5)
        if self.cooling:
            return {}
        if last["accuracy"] - half["accuracy"] > 2 * _standard_error(last):
            before, figure = half, "accuracy"
        elif last["log_loss"] is not None and last["log_loss"] < 0.98 * fifth["log_loss"]:
            before, figure = fifth, "log_loss"
        else:
            return {}
        passes = last["epoch"] - before["epoch"]
        return {"advice": [f"still improving: in the last {'epoch' if passes == 1 else f'{passes} epochs'} of "
                           f"{self.epochs} {figure.replace('_', ' ')} went from {before[figure]:.4f} to "
                           f"{last[figure]:.4f}. Try training.epochs={4 * self.epochs}."]}

    def _ago(self, passes: int) -> dict[str, Any]:
        """The figures of so many passes before the last, at least one."""
        return self.rows[max(len(self.rows) - 1 - max(passes, 1), 0)]

    def _threshold(self) -> dict[str, float]:
        """The probability below which REJECTED of the texts lie that get their right label; none for few texts.

        A text about something else is below it far more often: Hendrycks & Gimpel 2017, arXiv:1610.02136.
        """
        chances: list[float] = []
        for bags, pairs in self.parts:
            logs = self.model.logs_of(bags)
            first = logs.argmax(1)
            texts = np.unique(pairs[first[pairs[:, 0]] == pairs[:, 1], 0])
            chances += np.exp(logs[texts, first[texts]].astype(float)).tolist()
        if len(chances) < FEWEST:
            return {}
        return {"threshold": math.floor(np.quantile(chances, REJECTED, method="lower") * 1e6) / 1e6}


def goodness(figures: dict[str, Any]) -> tuple[float, float]:
    """Accuracy, then log loss, so that the larger is the better."""
    loss = figures["log_loss"]
    return figures["accuracy"], -loss if loss is not None else 0.0


def _standard_error(figures: dict[str, Any]) -> float:
    """√(p (1 − p) / n) of an accuracy p on n texts."""
    p = figures["accuracy"]
    return float((p * (1 - p) / figures["examples"]) ** 0.5)
