"""An engine stack as a language model, in NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chainrule.engine import untaped
from chainrule.models.engine_parts.mixers import joined
from chainrule.models.engine_stack import EngineStack, EngineState
from chainrule.models.windowed import LanguageState, Windowed
from chainrule.watching import note

READ_AT_ONCE = 1024  # tokens of a text that a stack without a window is given together: small products take longer
SCORED_AT_ONCE = 1 << 22  # scores in memory at a time, when whole texts are scored


class EngineLanguageModel(Windowed):
    """p(w_t | w_<t) = softmax(head(stack(<s> w_<t)))."""

    def __init__(self, stack: EngineStack, start: int):
        self.stack, self.start_id = stack.train(False), start
        self.vocabulary_size = stack.vocabulary
        self.context = stack.shape.context
        self.window = self.context if stack.bounded else None

    def log_probs(self, state: LanguageState) -> np.ndarray:
        with untaped():
            return self.stack.head.log_probs(state.hidden, never=(self.start_id,))

    def pick(self, state: LanguageState, rows: Any) -> LanguageState:
        rows = np.asarray(rows)
        states = tuple(each and tuple(array[rows] for array in each) for each in state.stack.sublayers)
        return LanguageState(EngineState(states, state.stack.lengths[rows]), state.hidden[rows], state.ids[rows],
                             state.counts[rows])

    def join(self, states: Sequence[LanguageState]) -> LanguageState:
        """The rows of several states as one batch."""
        layers = zip(*(each.stack.sublayers for each in states), strict=True)
        lengths, hidden, ids, counts = (np.concatenate(each) for each in zip(
            *((each.stack.lengths, each.hidden, each.ids, each.counts) for each in states), strict=True))
        return LanguageState(EngineState(tuple(map(joined, layers)), lengths), hidden, ids, counts)

    def score(self, ids: np.ndarray) -> np.ndarray:
        note("model", self)
        ids = np.asarray(ids)
        text = np.concatenate([np.full((len(ids), 1), self.start_id), ids], axis=1)
        if self.window is None or text.shape[1] <= self.window + 1:
            return self._scored(text)
        return self._in_windows(text, self.window)

    def own(self, ids: Any) -> np.ndarray:
        return np.asarray(ids)

    def fresh(self, batch: int) -> EngineState:
        return self.stack.start(batch)

    def taken(self, before: EngineState, ids: np.ndarray) -> tuple[EngineState, np.ndarray]:
        with untaped():
            hidden, after = self.stack(ids, before)
        assert after is not None
        return after, hidden.value[:, -1]

    def blank(self, batch: int, room: int) -> np.ndarray:
        return np.zeros((batch, room), np.int64)

    def appended(self, buffer: np.ndarray, counts: np.ndarray, ids: np.ndarray) -> np.ndarray:
        if buffer.shape[1]:
            np.put_along_axis(buffer, counts[:, None] + np.arange(ids.shape[1]), ids, axis=1)
        return buffer

    @property
    def layer_names(self) -> tuple[str, ...]:
        return self.stack.shape.layer_names

    def token_vectors(self) -> np.ndarray:
        return self.stack.embedding.weight.value

    def position_similarity(self) -> list[Any]:
        from chainrule.models.inside.positions import of_engine_stack

        return of_engine_stack(self.stack)

    def gradients(self, ids: np.ndarray, *, clip: float | None = None) -> Any:
        """Norms of gradients on windows of text, as `chainrule inspect --gradients` shows them."""
        from chainrule.models.inside.engine_gradients import measure

        return measure(self.stack, ids, clip=clip)

    def _scored(self, text: np.ndarray) -> np.ndarray:
        """(B, T): ln p of each token from the second on; a few rows at a time, to bound the memory of scores."""
        read, wanted = text[:, :-1], text[:, 1:]
        found = np.empty(wanted.shape, self.stack.dtype)
        if not wanted.size:
            return found
        rows = max(1, SCORED_AT_ONCE // (self.vocabulary_size * min(read.shape[1], max(self.context, READ_AT_ONCE))))
        stretch = max(1, SCORED_AT_ONCE // (self.vocabulary_size * min(rows, len(read))))
        with untaped():
            for row in range(0, len(read), rows):
                for begin, hidden in self._along(read[row:row + rows]):
                    for at in range(0, hidden.shape[1], stretch):
                        some = hidden[:, at:at + stretch]
                        place = slice(row, row + rows), slice(begin + at, begin + at + some.shape[1])
                        log_p = self.stack.head.log_probs(some, never=(self.start_id,))
                        found[place] = np.take_along_axis(log_p, wanted[place][..., None], -1)[..., 0]
        return found

    def _along(self, read: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Hidden states, stretch by stretch."""
        most = max(self.context, READ_AT_ONCE)
        state = self.stack.start(len(read)) if self.window is None and read.shape[1] > most else None
        for begin in range(0, read.shape[1], most):
            hidden, state = self.stack(read[:, begin:begin + most], state)
            yield begin, hidden.value

    def _in_windows(self, text: np.ndarray, window: int) -> np.ndarray:
        """A long text in overlapping windows: the first is scored whole, later ones only where the one before ended."""
        keep, found = window - self.stride, []
        for begin in range(0, text.shape[1] - 1, self.stride):
            piece = text[:, begin:begin + window + 1]
            if begin and piece.shape[1] - 1 <= keep:
                break
            found.append(self._scored(piece)[:, keep if begin else 0:])
        return np.concatenate(found, axis=1)
