"""Reading on, in windows where the context is bounded: the same for a stack of torch and one of the engine."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LanguageState:
    """What has been read: the stack's state, the hidden state of the last token, and the tokens of the window."""

    stack: Any
    hidden: Any  # (B, D)
    ids: Any  # (B, tokens in the window), <s> included; without a window only the last


class Windowed:
    """When a window is full, the last half of it begins the next.

    A token's window depends on its place alone, so stepping and scoring agree.
    """

    window: int | None  # tokens that the stack reads at once; None where it reads on without end

    @abstractmethod
    def marks(self, batch: int) -> Any:
        """(B, 1): <s> for every row."""

    @abstractmethod
    def fresh(self, batch: int) -> Any:
        """The stack's state before the first token."""

    @abstractmethod
    def taken(self, before: Any, ids: Any, window: Any) -> LanguageState:
        """The stack reads ids after a state; `window` has them and what went before."""

    @abstractmethod
    def as_ids(self, ids: Any, like: Any) -> Any:
        """Given ids as an array of the same kind, in the same place."""

    @abstractmethod
    def joined(self, before: Any, ids: Any) -> Any:
        """One after the other along time."""

    @property
    def stride(self) -> int:
        """By how much the window moves on when it is full."""
        assert self.window is not None
        return max(1, self.window // 2)

    def start(self, batch: int) -> LanguageState:
        ids = self.marks(batch)
        return self.taken(self.fresh(batch), ids, ids)

    def advance(self, state: LanguageState, ids: Any) -> LanguageState:
        new = self.as_ids(ids, state.ids)[:, None]
        if self.window is None:
            return self.taken(state.stack, new, new)
        window = self.joined(state.ids, new)
        if window.shape[1] > self.window:
            window = window[:, self.stride:]
            return self.taken(self.fresh(len(window)), window, window)
        return self.taken(state.stack, new, window)

    def read(self, state: LanguageState, ids: Any) -> LanguageState:
        """Several tokens at once, as many as the window has room for; a full one moves on as it does in `advance`."""
        ids = self.as_ids(ids, state.ids)
        while ids.shape[1]:
            room = ids.shape[1] if self.window is None else self.window - state.ids.shape[1]
            if room < 1:
                state, ids = self.advance(state, ids[:, 0]), ids[:, 1:]
                continue
            now, ids = ids[:, :room], ids[:, room:]
            seen = now[:, -1:] if self.window is None else self.joined(state.ids, now)
            state = self.taken(state.stack, now, seen)
        return state
