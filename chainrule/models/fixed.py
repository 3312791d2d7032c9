"""Writing in steps of one fixed shape: what a CUDA graph can take as a whole and replay once a token."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from chainrule.models.language import NeuralLanguageModel
from chainrule.models.stack import Stack, StackState
from chainrule.models.windowed import LanguageState
from chainrule.parts.mixers.attention import Cache, FixedCache
from chainrule.parts.state import Reading, copy_into, pick

CALM = 16  # tokens that the same number of rows has gone on for, before a graph is captured for it


class FixedSteps:
    """A token for each of so many rows, with caches that are as long from the first as they will ever be.

    The tokens, their place, all states and the result are tensors that a step changes in place: it has no inputs and no
    outputs. Attention looks at all of its cache at each step.
    """

    def __init__(self, model: NeuralLanguageModel, rows: int):
        stack = model.stack
        weight = stack.embedding.weight
        self.stack, self.rows, self.length, self._score = stack, rows, 0, model.log_softmax
        self.ids_B1 = torch.zeros(rows, 1, dtype=torch.long, device=weight.device)
        self.at = torch.zeros(1, dtype=torch.long, device=weight.device)
        self.hidden_BD = weight.new_zeros(rows, stack.shape.width)
        self.log_p_BV = torch.zeros(rows, model.vocabulary_size, device=weight.device)
        self.states = [self._fixed(state) for state in stack.start(rows, model.window or 1).sublayers]
        self._run: Callable[[], None] = self._captured() if weight.is_cuda else self._step

    def put(self, state: StackState) -> None:
        """Takes over what has been read so far."""
        for mine, given in zip(self.states, state.sublayers, strict=True):
            if isinstance(mine, FixedCache):
                mine.keys[:, :, :state.length] = given.keys[:, :, :state.length]
                mine.values[:, :, :state.length] = given.values[:, :, :state.length]
            else:
                copy_into(mine, given)
        self.at.fill_(state.length)
        self.length = state.length

    def go_on(self, ids_B1: Tensor) -> None:
        """Reads the next token of each row."""
        self.ids_B1.copy_(ids_B1)
        self._run()
        self.length += 1

    def read(self) -> StackState:
        """What has been read, in the tensors of the steps themselves."""
        length = self.length
        return StackState(tuple(Cache(each.keys[:, :, :length], each.values[:, :, :length], length)
                                if isinstance(each, FixedCache) else each for each in self.states), length)

    def _step(self) -> None:
        stack, reading = self.stack, Reading(position=self.stack.position)
        x = stack.position.embed(stack.embedding(self.ids_B1), self.at)
        for layer, state in zip(stack.sublayers, self.states, strict=True):
            x, after = layer(x, state, reading)
            if not isinstance(state, FixedCache):
                copy_into(state, after)
        self.hidden_BD.copy_(stack.norm(x)[:, -1])
        self.log_p_BV.copy_(self._score(self.hidden_BD))
        self.at.add_(1)

    def _captured(self) -> Callable[[], None]:
        """The step as one CUDA graph."""
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(2):  # kernels are chosen and memory is found before the capture
                self.at.zero_()
                self._step()
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        self.at.zero_()
        with torch.cuda.graph(graph):
            self._step()
        return graph.replay

    def _fixed(self, state: Any) -> Any:
        if isinstance(state, Cache):
            return FixedCache(state.keys, state.values, self.at)
        return pick(state, torch.arange(self.rows, device=self.at.device))  # tensors of its own: they are written to


class Held:
    """Stands for a stack's state that lies in the tensors of its steps; only the newest may go on."""

    def __init__(self, steps: FixedSteps):
        self.steps = steps


class FixedWriter(NeuralLanguageModel):
    """The same model; rows that go on for a while do so in steps of a fixed shape, one state at a time.

    Copies (`pick`) are ordinary states. They take the steps over when nobody holds the state that lies in them.
    """

    def __init__(self, stack: Stack, start: int):
        super().__init__(stack, start)
        self._steps: FixedSteps | None = None
        self._newest: Callable[[], Held | None] = lambda: None
        self._rows = self._calm = 0
        self._too_many = math.inf  # rows that there is no memory for

    def to_write(self) -> FixedWriter:
        return self

    @torch.inference_mode()
    def taken(self, before: Any, ids: Tensor, window: Tensor) -> LanguageState:
        if ids.shape[1] > 1 and isinstance(before, Held):
            before = pick(before.steps.read(), torch.arange(len(ids), device=ids.device))
        steps = self._steps_for(before, ids)
        if steps is None:
            return super().taken(before, ids, window)
        if not isinstance(before, Held):
            steps.put(before)
        steps.go_on(ids)
        held = Held(steps)
        self._newest = weakref.ref(held)
        return LanguageState(held, steps.hidden_BD, window)

    @torch.inference_mode()
    def log_probs(self, state: LanguageState) -> Tensor:
        return state.stack.steps.log_p_BV.clone() if isinstance(state.stack, Held) else super().log_probs(state)

    @torch.inference_mode()
    def pick(self, state: LanguageState, rows: Any) -> LanguageState:
        if isinstance(state.stack, Held):
            state = LanguageState(state.stack.steps.read(), state.hidden, state.ids)
        return super().pick(state, rows)

    def _steps_for(self, before: Any, ids: Tensor) -> FixedSteps | None:
        """The steps that these rows go on in: once they have been as many for a while, and nobody else is in there."""
        if isinstance(before, Held):
            return before.steps
        rows, length = ids.shape
        self._calm = self._calm + 1 if rows == self._rows and length == 1 else 0
        self._rows = rows
        if length > 1 or self._newest() is not None:
            return None
        if self._steps is None or self._steps.rows != rows:
            if self._calm < CALM or rows >= self._too_many:
                return None
            self._steps = None  # its memory is free before more is taken
            try:
                self._steps = FixedSteps(self, rows)
            except torch.OutOfMemoryError:  # ordinary caches are only as long as the text
                self._too_many = rows
        return self._steps
