"""What is said while trials run: how long they will take in all, and how far each has come."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from chainrule.training.plan import Budget

QUIET = 10.0  # seconds between two lines about one training
QUARTER = 0.25  # of a training, at least, between two lines about it
log = logging.getLogger("chainrule")


class TrialProgress(Protocol):
    """Is told about each trial as it comes; `name` has its number, as in `[1/3] lstm`. Several may run at a time."""

    def already(self, name: str) -> None: ...

    def started(self, name: str) -> None: ...

    def came(self, name: str, facts: Mapping[str, Any], spent: str) -> None:
        """`facts` has `progress`, the share that is done, and maybe `bits_per_byte`; `spent` is the same in words."""
        ...

    def measuring(self, name: str) -> None: ...

    def ended(self, name: str, failure: str | None) -> None: ...


class LogLines:
    """A few short lines for each trial: where it starts, at its quarters if they take long, and if it fails."""

    def __init__(self) -> None:
        self.said: dict[str, tuple[float, float]] = {}  # of each trial: when a line was written, and at which share

    def already(self, name: str) -> None:
        log.info(f"{name}: already finished.")

    def started(self, name: str) -> None:
        self.said[name] = time.monotonic(), 0.0
        log.info(f"{name}: started.")

    def came(self, name: str, facts: Mapping[str, Any], spent: str) -> None:
        now, (said, share) = time.monotonic(), self.said[name]
        if now - said >= QUIET and facts["progress"] >= share + QUARTER:
            self.said[name] = now, facts["progress"] - facts["progress"] % QUARTER
            log.info(f"{name}: {spent}")

    def measuring(self, name: str) -> None:
        pass  # it is quick, and the next line says that it is done

    def ended(self, name: str, failure: str | None) -> None:
        if failure is not None:
            log.info(f"{name}: failed: {failure}")


def forecast(trained: int, free: Sequence[str], budget: Budget, held_out: str) -> str:
    """How long everything will take: `trained` trainings under the budget, and others, which it does not bound."""
    said = []
    if trained:
        each = duration(budget.amount) if budget.kind == "seconds" else str(budget)
        whole = (duration(trained * budget.amount) if budget.kind == "seconds" else
                 f"{trained * budget.amount:,.6g} {'FLOPs' if budget.kind == 'flops' else budget.kind}")
        said.append(f"1 training of {each}" if trained == 1 else f"{trained} trainings of {each} each, {whole} in all")
    if free:
        said.append(f"{', '.join(free)}: as the recipe says, whatever the budget")
    return f"{'; '.join(said)}; then an evaluation of each on {held_out}."


def duration(seconds: float) -> str:
    """`90 s`, `20 min`, `2 h 30 min`"""
    if seconds < 120:
        return f"{seconds:,.3g} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return " ".join(part for part in (f"{hours:,} h" if hours else "", f"{minutes} min" if minutes else "") if part)


def spent(facts: Mapping[str, Any], budget: Budget) -> str:
    """`40 s of 60 s, 2.31 bits per byte of the text trained on`"""
    share, bits = facts["progress"], facts.get("bits_per_byte")
    if "step" not in facts:  # it makes its own number of passes
        return f"{share:.0%} trained"
    words = (f"{share * budget.amount:,.0f} s of {budget.amount:,.0f} s" if budget.kind == "seconds" else
             f"{share:.0%} of {budget}")
    return words + (f", {bits:.2f} bits per byte of the text trained on" if bits else "")
