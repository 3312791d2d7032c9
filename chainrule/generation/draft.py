"""A text that is being written: what the decode loop hands to a strategy and gets back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from chainrule.protocols import Array


@dataclass(frozen=True)
class Draft:
    """One row of the batch: the prompt's ids and those written after it."""

    prompt: int  # which row of the prompts it continues
    row: int  # which row of the model's state has read it
    ids: tuple[int, ...]
    read: int  # how many of the ids were the prompt's
    log_p: float = 0.0  # Σ ln p of the written ids, after the filters: what beams are ranked by
    reason: str = ""  # why it ended: "end" mark, "stop" string, "length", or "stuck" (nothing had probability)

    @property
    def written(self) -> tuple[int, ...]:
        return self.ids[self.read :]

    def extended(self, id: int, log_p: float) -> Draft:
        return Draft(self.prompt, self.row, (*self.ids, id), self.read, self.log_p + log_p)

    def closed(self, reason: str) -> Draft:
        return replace(self, reason=reason)


def set_apart(longer: Sequence[Draft], done: list[Draft]) -> tuple[list[Draft], list[Draft]]:
    """Every draft goes on until it ends."""
    return [draft for draft in longer if not draft.reason], done + [draft for draft in longer if draft.reason]


class Strategy(Protocol):
    """How the next tokens are chosen. Row i of the log-probabilities belongs to the i-th live draft."""

    results: int | None  # how many texts it finds for one prompt; None where each row is another draw

    def extend(self, live: Sequence[Draft], log_p_BV: Array) -> list[Draft]:
        """The drafts one token longer; a draft that nothing can follow comes back closed as "stuck"."""
        ...

    def sift(self, longer: Sequence[Draft], done: list[Draft], max_tokens: int) -> tuple[list[Draft], list[Draft]]:
        """The drafts to go on with, and all that are done: `done` and those of the longer ones that have ended."""
        ...

    def rank(self, done: Sequence[Draft]) -> list[Draft]:
        """The results for one prompt, best first."""
        ...


class Filter(Protocol):
    """Reshapes ln p(·) of each row; `read` has the ids each row has read. What it returns need not sum to one."""

    def __call__(self, log_p_BV: Array, read: Sequence[Sequence[int]]) -> Array: ...
