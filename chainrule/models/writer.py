"""Generation on a GPU: steps recorded as CUDA graphs, with tokens chosen on the device if possible."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.models.fixed import FirstTokens, NotFixed, SingleSteps, StepsAhead
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.stack import Stack, StackState
from chainrule.models.windowed import LanguageState
from chainrule.parts.state import mapped

KEPT = 4  # recorded steps, for other numbers of rows or other ways to choose
ROUND = 64  # lengths of caches, so that steps serve texts of similar length
FEW = 4096  # first tokens of all rows together: reading more takes longer than starting its kernels
STEADY = 16  # tokens that the same number of rows must have advanced by, before single steps are recorded for it


class GraphWriter(NeuralLanguageModel):
    """The same model. `steps_ahead` writes several tokens by itself; `advance` (beams) records single steps.

    A state that lies in the tensors of recorded steps is valid until the next `advance`; `pick` copies it.
    """

    def __init__(self, stack: Stack, start: int):
        super().__init__(stack, start)
        self._ahead: dict[Any, StepsAhead] = {}
        self._impossible: set[Any] = set()  # for lack of memory, or by a state that grows
        self._first: dict[tuple[int, int], FirstTokens] = {}
        self._read: deque[tuple[int, int]] = deque(maxlen=64)  # rows and lengths of windows that were begun lately
        self._single: SingleSteps | None = None
        self._newest: Callable[[], StackState | None] = lambda: None  # the state that lies in the single steps
        self._rows = self._steady = 0

    def to_write(self) -> GraphWriter:
        return self

    @torch.inference_mode()
    def steps_ahead(self, state: LanguageState, choosing: Any, ids: np.ndarray, most: int) -> StepsAhead | None:
        room = 1
        if self.window is not None:
            room = min(self.window, _rounded(int(state.counts.max(initial=0)) + most))
        text = _rounded(ids.shape[1] + most)
        key = len(state.counts), room, text, choosing.key
        if key not in self._ahead and len(state.counts):
            while len(self._ahead) >= KEPT:
                self._ahead.pop(next(iter(self._ahead)))  # its memory is free before more is taken
            made = self._made(key, lambda: StepsAhead(self, state.stack, choosing, room, text))
            self._ahead |= {} if made is None else {key: made}
        steps = self._ahead.get(key)
        if steps is not None:
            steps.begin(state, ids)
        return steps

    @torch.inference_mode()
    def begun(self, ids: Tensor) -> tuple[StackState, Tensor]:
        """Recorded where as many rows have begun with as many tokens before."""
        shape = len(ids), ids.shape[1]
        if shape in self._read and shape not in self._first and ids.numel() <= FEW:
            while len(self._first) >= KEPT:
                self._first.pop(next(iter(self._first)))
            made = self._made(shape, lambda: FirstTokens(self, *shape))
            self._first |= {} if made is None else {shape: made}
        self._read.append(shape)
        return self._first[shape].begun(ids) if shape in self._first else super().begun(ids)

    def _made(self, key: Any, make: Callable[[], Any]) -> Any:
        """Recorded steps, or None if they cannot be made: then ordinary steps are used."""
        if key in self._impossible:
            return None
        for _ in range(2):
            try:
                return make()
            except NotFixed:
                break
            except torch.OutOfMemoryError:  # ordinary caches are only as long as the text
                if not self._ahead:
                    break
            self._ahead.clear()
        self._impossible.add(key)
        return None

    @torch.inference_mode()
    def taken(self, before: StackState, ids: Tensor) -> tuple[StackState, Tensor]:
        in_steps = before is self._newest()
        single = self._steps_for(before, ids)
        if single is None:
            return super().taken(mapped(before, torch.clone) if in_steps else before, ids)
        if not in_steps:
            single.put(before)
        single.ids_B1.copy_(ids)
        single.run()
        after = replace(single.state)  # another record of the same tensors, freed with its last user
        self._newest = weakref.ref(after)
        return after, single.hidden_BD.clone()

    def _steps_for(self, before: StackState, ids: Tensor) -> SingleSteps | None:
        """Recorded single steps, if the number of rows has not changed for a while and no other state uses them."""
        rows, length = ids.shape
        self._steady = self._steady + 1 if (rows, length) == (self._rows, 1) else 0
        self._rows = rows
        newest = self._newest()
        if length > 1 or self._steady < STEADY or (newest is not None and newest is not before):
            return None
        if self._single is None or self._single.rows != rows:
            self._single = None  # its memory is free before more is taken
            self._single = self._made(rows, lambda: SingleSteps(self, before, self.window or 1))
        return self._single


def _rounded(length: int) -> int:
    return -(-length // ROUND) * ROUND
