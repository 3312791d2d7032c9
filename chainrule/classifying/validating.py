"""Validation after each pass over the training texts, and early stopping."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np

from chainrule.classifying.labeled import Example
from chainrule.classifying.measuring import Tally, together
from chainrule.classifying.model import TextClassifier
from chainrule.errors import DataError

log = logging.getLogger("chainrule")


class Validation:
    """Measures a model after each pass; with `patience` the tables of the best pass, by accuracy, are the ones kept.

    Texts become bags once: measuring again reads only tables. A pass is better than one before if its accuracy is.
    """

    def __init__(self, model: TextClassifier, examples: Iterable[Example], name: str, patience: int | None):
        self.model, self.patience, self.rows = model, patience, list[dict[str, Any]]()
        self.best, self.kept = 0, (np.zeros(0), np.zeros(0))
        tally = Tally(model.labels)
        self.parts = [(model.features.bags([each.text for each in some]), tally.wanted(some))
                      for some in together(examples)]
        if not self.parts:
            raise DataError(f"{name}: no text with a label.")

    def after(self, epoch: int) -> bool:
        """Whether training should end here."""
        tally = Tally(self.model.labels)
        for bags, pairs in self.parts:
            tally.add(self.model.logs_of(bags), pairs)
        found = tally.figures()
        self.rows.append({"epoch": epoch, **found})
        log.info(f"epoch {epoch}: accuracy {found['accuracy']:.4f}, precision {found['precision']:.4f}, recall "
                 f"{found['recall']:.4f} on {found['examples']:,} texts.")
        if epoch == 1 or found["accuracy"] > self.rows[self.best - 1]["accuracy"]:
            self.best = epoch
            if self.patience is not None:
                self.kept = np.array(self.model.inputs), np.array(self.model.outputs)
        return self.patience is not None and epoch - self.best >= self.patience

    def finish(self) -> dict[str, Any]:
        """Restores the best tables with `patience`; facts for the report."""
        epoch = len(self.rows)
        if self.patience is not None:
            epoch = self.best
            self.model.inputs[:], self.model.outputs[:] = self.kept  # type: ignore[index]
        return {"epoch": epoch, "valid": {key: value for key, value in self.rows[epoch - 1].items() if key != "epoch"}}
