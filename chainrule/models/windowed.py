"""Reading token by token, in windows if the context is bounded: the same for torch and the engine."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LanguageState:
    """What has been read: the stack's state, the hidden state of the last token, and the tokens of the window.

    Rows may have read different numbers of tokens: `counts` says how many of `ids` each has.
    """

    stack: Any
    hidden: Any  # (B, D)
    ids: Any  # (B, window), <s> included; nothing where there is no window
    counts: np.ndarray  # (B,)


class Windowed:
    """When a row's window is full, its second half starts the next window.

    A token's window depends on its place alone, so stepping and scoring agree.
    """

    window: int | None  # tokens that the stack can see; None where it reads on without end
    context: int  # the most tokens that it is given at once
    start_id: int

    @abstractmethod
    def own(self, ids: Any) -> Any:
        """Ids or rows as an array of the model's own kind, on its device."""

    @abstractmethod
    def fresh(self, batch: int) -> Any:
        """The stack's state before the first token."""

    @abstractmethod
    def taken(self, before: Any, ids: Any) -> tuple[Any, Any]:
        """The stack's state after ids (B, T), and the hidden state of the last of them (B, D)."""

    def begun(self, ids: Any) -> tuple[Any, Any]:
        """The same after the first tokens of a window."""
        return self.taken(self.fresh(len(ids)), ids)

    @abstractmethod
    def appended(self, buffer: Any, counts: np.ndarray, ids: Any) -> Any:
        """The tokens of the window with these appended; may write into the buffer."""

    @abstractmethod
    def blank(self, batch: int, room: int) -> Any:
        """A buffer for the tokens of a window."""

    @abstractmethod
    def pick(self, state: LanguageState, rows: Any) -> LanguageState: ...

    @abstractmethod
    def join(self, states: Sequence[LanguageState]) -> LanguageState: ...

    @property
    def stride(self) -> int:
        """By how much the window moves on when it is full."""
        assert self.window is not None
        return max(1, self.window // 2)

    def start(self, batch: int) -> LanguageState:
        return self._begun(self.own(np.full((batch, 1), self.start_id)))

    def advance(self, state: LanguageState, ids: Any) -> LanguageState:
        new = self.own(ids)[:, None]
        full = np.zeros(len(state.counts), bool) if self.window is None else state.counts >= self.window
        if not full.any():
            return self._on(state, new)
        if full.all():
            return self._moved(state, new)
        groups = [np.flatnonzero(~full), np.flatnonzero(full)]
        moved = [go(self.pick(state, rows), new[self.own(rows)])
                 for go, rows in zip((self._on, self._moved), groups, strict=True)]
        return self.pick(self.join(moved), np.argsort(np.concatenate(groups)))

    def read(self, state: LanguageState | None, ids: Any) -> LanguageState:
        """Several tokens at once, at most `context`; a full window moves on as it does in `advance`."""
        ids = self.own(ids)
        if state is None:
            marks = self.own(np.full((len(ids), 1 + ids.shape[1]), self.start_id))
            text = self.appended(marks, np.ones(len(ids), np.int64), ids)
            state, ids = self._begun(text[:, :self.context]), text[:, self.context:]
        while ids.shape[1]:
            room = self.context if self.window is None else self.window - int(state.counts.max(initial=0))
            if room < 1:
                state, ids = self.advance(state, ids[:, 0]), ids[:, 1:]
            else:
                state, ids = self._on(state, ids[:, :room]), ids[:, room:]
        return state

    def _begun(self, ids: Any) -> LanguageState:
        """A window begins with these tokens."""
        stack, hidden = self.begun(ids)
        counts = np.zeros(len(ids), np.int64)
        buffer = self.appended(self.blank(len(ids), self.window or 0), counts, ids)
        return LanguageState(stack, hidden, buffer, counts + ids.shape[1])

    def _on(self, state: LanguageState, ids: Any) -> LanguageState:
        """The window has room for these."""
        stack, hidden = self.taken(state.stack, ids)
        return replace(state, stack=stack, hidden=hidden, ids=self.appended(state.ids, state.counts, ids),
                       counts=state.counts + ids.shape[1])

    def _moved(self, state: LanguageState, new: Any) -> LanguageState:
        """The window of every row is full: its last part begins another."""
        window = self.appended(self.blank(len(new), self.window or 0), np.zeros(len(new), np.int64),
                            state.ids[:, self.stride:])
        kept = (self.window or 0) - self.stride
        window = self.appended(window, np.full(len(new), kept), new)
        return self._begun(window[:, :kept + 1])
