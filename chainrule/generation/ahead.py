"""Writing several tokens between two looks of the host: the model chooses them on its own device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.errors import ChainruleError
from chainrule.generation.choosing import NAN, Choosing
from chainrule.generation.rows import Rows

AHEAD = 32  # tokens between two looks of the host: those after an end mark are wasted


@dataclass
class WritingAhead:
    """Rows that a model writes by itself; those that have ended stay in the batch until half of it is idle."""

    model: Any  # a `protocols.WritesAhead`
    steps: Any  # its steps
    choosing: Choosing
    places: np.ndarray  # for each live row, its place among the rows of the steps

    @staticmethod
    def begun(model: Any, state: Any, choosing: Choosing, rows: Rows) -> WritingAhead | None:
        """Continues from a state; None if the model cannot."""
        steps = model.steps_ahead(state, choosing, rows.seen(), int(rows.left.max()))
        return None if steps is None else WritingAhead(model, steps, choosing, np.arange(len(rows)))

    @property
    def room(self) -> int:
        """Tokens that can be written before the model must move its window, or take other steps for fewer rows."""
        return self.steps.room if 2 * len(self.places) > self.steps.rows or self.steps.rows == 1 else 0

    def step(self, rows: Rows, tokens: int, stops: Callable[[np.ndarray, int], bool] | None
             ) -> tuple[Rows, np.ndarray, list[str], np.ndarray]:
        """All rows after what they wrote, how many tokens that was, why some ended, and which are live."""
        count = min(tokens, self.room, int(rows.left.max()))
        u_RN = np.zeros((self.steps.rows, count))
        u_RN[self.places] = self.choosing.strategy.draws(rows.numbers, rows.written[:, None] + np.arange(count))
        ids_RN, log_p_RN, model_RN = (each[self.places] for each in self.steps.run(u_RN))
        if np.isnan(model_RN).any():
            raise ChainruleError(NAN)
        taken, reasons = self._ends(rows, ids_RN, log_p_RN)
        longer = rows.followed_by_several(ids_RN, taken, log_p_RN, model_RN, self.choosing.marks.start)
        if stops is not None:
            self._stopped(rows, longer, taken, reasons, stops, log_p_RN, model_RN)
        live = np.array([row for row, reason in enumerate(reasons) if not reason], np.int64)
        self.places = self.places if len(live) == len(rows) else self.places[live]
        return longer, taken, reasons, live

    def _ends(self, rows: Rows, ids_RN: np.ndarray, log_p_RN: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """How many tokens each row takes of those chosen for it, and why it ends with them, if it does."""
        count = ids_RN.shape[1]
        first = {"end": _first(ids_RN == self.choosing.marks.end) + 1, "length": rows.left,
                 "stuck": _first(log_p_RN == -np.inf)}
        taken = np.minimum(count, np.minimum.reduce(list(first.values())))
        reasons = [next((why for why, places in first.items() if places[row] == taken[row]), "")
                for row in range(len(rows))]
        return taken, reasons

    def _stopped(self, rows: Rows, longer: Rows, taken: np.ndarray, reasons: list[str],
                 stops: Callable[[np.ndarray, int], bool], log_p_RN: np.ndarray, model_RN: np.ndarray) -> None:
        """Ends rows at the token that completes a stop."""
        for row in range(len(rows)):
            length, read = int(rows.lengths[row]), int(rows.read[row])
            own = int(taken[row]) - (reasons[row] == "end")  # the end mark itself is never part of a stop
            for n in range(own):
                if stops(longer.ids[row, : length + n + 1], read):
                    taken[row], reasons[row] = n + 1, "stop"
                    longer.cut(row, length + n + 1, self.choosing.marks.start)
                    longer.log_p[row] = rows.log_p[row] + log_p_RN[row, : n + 1].sum(dtype=np.float64)
                    longer.model_log_p[row] = rows.model_log_p[row] + model_RN[row, : n + 1].sum(dtype=np.float64)
                    break

    def settled(self) -> Any:
        """The model's state after what was written, of the rows that are live."""
        return self.model.pick(self.steps.state(), self.places)


def _first(found_RN: np.ndarray) -> np.ndarray:
    """(R,): the first place that is True in each row, or more than there are places."""
    return np.where(found_RN.any(1), found_RN.argmax(1), found_RN.shape[1] + 1)
