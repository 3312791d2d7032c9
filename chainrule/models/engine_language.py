"""An engine stack as a language model: what every family satisfies, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.engine import untaped
from chainrule.models.engine_stack import EngineStack
from chainrule.models.windowed import LanguageState, Windowed

SCORED_AT_ONCE = 1 << 22  # logits in memory at a time, when whole texts are scored


class EngineLanguageModel(Windowed):
    """p(w_t | w_<t) = softmax(head(stack(<s> w_<t)))."""

    arrays = "numpy"

    def __init__(self, stack: EngineStack, start: int):
        self.stack, self.start_id = stack.train(False), start
        self.vocabulary_size = len(stack.embedding.weight.value)
        self.window = stack.shape.context if stack.bounded else None

    def log_probs(self, state: LanguageState) -> np.ndarray:
        with untaped():
            return self._log_softmax(state.hidden)

    def pick(self, state: LanguageState, rows: Any) -> LanguageState:
        rows = np.asarray(rows)
        states = tuple(None if each is None else tuple(array[rows] for array in each) for each in state.stack)
        return LanguageState(states, state.hidden[rows], state.ids[rows])

    def score(self, ids: np.ndarray) -> np.ndarray:
        ids = np.asarray(ids)
        text = np.concatenate([np.full((len(ids), 1), self.start_id), ids], axis=1)
        if self.window is None or text.shape[1] <= self.window + 1:
            return self._scored(text)
        return self._in_windows(text, self.window)

    def marks(self, batch: int) -> np.ndarray:
        return np.full((batch, 1), self.start_id)

    def fresh(self, batch: int) -> tuple[Any, ...]:
        return self.stack.start(batch)

    def taken(self, before: tuple[Any, ...], ids: np.ndarray, window: np.ndarray) -> LanguageState:
        with untaped():
            hidden, after = self.stack(ids, before, window.shape[1] - ids.shape[1])
        return LanguageState(after, hidden.value[:, -1], window)

    def as_ids(self, ids: Any, like: np.ndarray) -> np.ndarray:
        return np.asarray(ids)

    def joined(self, before: np.ndarray, ids: np.ndarray) -> np.ndarray:
        return np.concatenate([before, ids], axis=1)

    def _log_softmax(self, hidden: np.ndarray) -> np.ndarray:
        """ln p of every token; <s> begins texts and is in none, so it has no probability."""
        logits = self.stack.head(hidden).value
        logits[..., self.start_id] = -np.inf
        logits -= logits.max(axis=-1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        return logits

    def _scored(self, text: np.ndarray) -> np.ndarray:
        """(B, T): ln p of each token from the second on; a few rows at a time, so that logits never exist whole."""
        read, wanted = text[:, :-1], text[:, 1:]
        found = np.empty(wanted.shape, self.stack.embedding.weight.value.dtype)
        if not wanted.size:
            return found
        rows = max(1, SCORED_AT_ONCE // (self.vocabulary_size * read.shape[1]))
        stretch = max(1, SCORED_AT_ONCE // (self.vocabulary_size * min(rows, len(read))))
        with untaped():
            for row in range(0, len(read), rows):
                hidden = self.stack(read[row:row + rows])[0].value
                for at in range(0, read.shape[1], stretch):
                    some = wanted[row:row + rows, at:at + stretch, None]
                    found[row:row + rows, at:at + stretch] = np.take_along_axis(
                        self._log_softmax(hidden[:, at:at + stretch]), some, -1)[..., 0]
        return found

    def _in_windows(self, text: np.ndarray, window: int) -> np.ndarray:
        """A long text: the first window whole, of each later one only what the one before has not scored."""
        keep, found = window - self.stride, []
        for begin in range(0, text.shape[1] - 1, self.stride):
            piece = text[:, begin:begin + window + 1]
            if begin and piece.shape[1] - 1 <= keep:
                break
            found.append(self._scored(piece)[:, keep if begin else 0:])
        return np.concatenate(found, axis=1)
