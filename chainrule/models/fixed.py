"""Fixed-shape steps: what a CUDA graph can record and replay once per token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from warnings import catch_warnings

import numpy as np
import torch
from torch import Tensor

from chainrule.models.language import NeuralLanguageModel
from chainrule.models.stack import StackState
from chainrule.models.windowed import LanguageState
from chainrule.parts.norms._summed import recording
from chainrule.parts.reading import Reading
from chainrule.parts.state import enlarged, leaves, mapped, rebuilt


class NotFixed(Exception):
    """A part cannot be replayed: its state changes shape, or it waits for results of the GPU."""


class FixedSteps:
    """A token for each of so many rows, with caches that are as long from the first as they will ever be.

    The tokens and all states are tensors that a step changes in place: it has no inputs and no outputs that move. What
    a part's state is made of need not be known; that it keeps its shape is checked.
    """

    def __init__(self, model: NeuralLanguageModel, like: StackState, room: int):
        stack, rows = model.stack, len(like.lengths)
        self.stack, self.rows, self.never = stack, rows, (model.start_id,)
        shapes = [[max(sizes) for sizes in zip(mine.shape, given.shape, strict=True)]
                  for mine, given in zip(leaves(stack.start(rows, room)), leaves(like), strict=True)]
        self.state: StackState = rebuilt(like, (given.new_zeros(shape)
                                                for given, shape in zip(leaves(like), shapes, strict=True)))
        self.ids_B1 = torch.zeros(rows, 1, dtype=torch.long, device=stack.device)

    def put(self, state: StackState) -> None:
        """Takes over what has been read so far."""
        for mine, given in zip(leaves(self.state), leaves(state), strict=True):
            mine.copy_(enlarged(given, mine.shape[1:]))

    def step(self) -> Tensor:
        """Reads the token of each row that stands in `ids_B1`; its hidden state (B, D)."""
        reading = Reading(self.stack.shape.causal).after_any(self.state.lengths, 1)
        hidden, after = self.stack(self.ids_B1, self.state, reading)
        for mine, new in zip(leaves(self.state), leaves(after), strict=True):
            if mine.shape != new.shape:
                raise NotFixed(f"a state of shape {tuple(mine.shape)} became one of {tuple(new.shape)}")
            if mine.data_ptr() != new.data_ptr():  # caches are written in place
                mine.copy_(new)
        return hidden[:, -1]

    def log_probs(self, hidden: Tensor) -> Tensor:
        return self.stack.head.log_probs(hidden, self.never)


class SingleSteps(FixedSteps):
    """Steps one at a time, with a hidden state that stays in its place: for tokens that others choose."""

    def __init__(self, model: NeuralLanguageModel, like: StackState, room: int):
        super().__init__(model, like, room)
        self.hidden_BD = torch.zeros(self.rows, model.stack.width, dtype=model.stack.dtype, device=model.stack.device)
        self.run = recorded(lambda: self.hidden_BD.copy_(self.step()), model.stack.device)


class FirstTokens:
    """The first tokens of a window for so many rows, read at once."""

    def __init__(self, model: NeuralLanguageModel, rows: int, length: int):
        self.ids_BT = torch.zeros(rows, length, dtype=torch.long, device=model.stack.device)

        def read() -> None:
            self.found = NeuralLanguageModel.begun(model, self.ids_BT)

        self.run = recorded(read, model.stack.device)

    def begun(self, ids: Tensor) -> tuple[StackState, Tensor]:
        """The state after them and the last one's hidden state, in tensors of their own."""
        self.ids_BT.copy_(ids)
        self.run()
        return mapped(self.found, torch.clone)


def recorded(step: Callable[[], Any], device: torch.device) -> Callable[[], Any]:
    """The step as one CUDA graph; elsewhere the step itself."""
    if device.type != "cuda":
        step()  # so that what cannot be recorded is known here, too
        return step
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with recording(), torch.cuda.stream(beside):  # kernels are chosen and memory is found before the capture
        step()
        with _without_waiting():
            step()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    torch._C._cuda_clearCublasWorkspaces()  # the graph gets its own workspace: a shared one may be freed
    with recording(), torch.cuda.graph(graph):
        step()
    torch._C._cuda_clearCublasWorkspaces()
    return graph.replay


@contextmanager
def _without_waiting() -> Iterator[None]:
    """Refuses operations that wait for the GPU, such as reading a number: they would break a capture."""
    before = torch.cuda.get_sync_debug_mode()
    try:
        with catch_warnings(action="ignore"):  # torch says that it does not find every such operation
            torch.cuda.set_sync_debug_mode("error")
        yield
    except RuntimeError as error:
        if "synchronizing" not in str(error):
            raise
        raise NotFixed("a part looks at numbers that the GPU has not computed yet") from error
    finally:
        torch.cuda.set_sync_debug_mode(before)


class StepsAhead:
    """A recorded step reads the last token of each row and chooses the next from ln p, the text and a random number.

    Column t of `ids_BT` is the t-th token that a row has read or written; `u_BT` and `log_p_BT2` are aligned with it.
    """

    def __init__(self, model: NeuralLanguageModel, like: StackState, choosing: Any, room: int, text: int):
        self.model, self.choosing, self.rows = model, choosing, len(like.lengths)
        self.steps = FixedSteps(model, like, room)
        with model.stack.device:
            self.ids_BT = torch.full((self.rows, text), model.start_id, dtype=torch.long)
            self.u_BT = torch.zeros(self.rows, text, dtype=torch.float64)
            self.log_p_BT2 = torch.zeros(self.rows, text, 2)
            self.at_B1 = torch.zeros(self.rows, 1, dtype=torch.long)
        self._run = recorded(self._step, model.stack.device)
        self._start: LanguageState | None = None
        self._before = self._count = 0  # tokens before these steps, and in them

    @torch.inference_mode()
    def begin(self, state: LanguageState, ids: np.ndarray) -> None:
        """Continues from a state whose rows have read these ids, padded with <s>."""
        self._start, self._before, self._count = state, ids.shape[1], 0
        self.steps.put(state.stack)
        self.ids_BT.fill_(self.model.start_id)
        self.ids_BT[:, :ids.shape[1]] = self.model.own(ids)
        self.at_B1.fill_(ids.shape[1])

    @property
    def room(self) -> int:
        """Tokens that can be written before a window is full."""
        assert self._start is not None
        left = self.ids_BT.shape[1] - self._before - self._count
        if self.model.window is not None:
            left = min(left, self.model.window - int(self._start.counts.max(initial=0)) - self._count)
        return left

    @torch.inference_mode()
    def run(self, u_RN: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Writes as many tokens as there are numbers for each row: ids, ln p after the filters, ln p of the model."""
        assert self._start is not None
        count, at = u_RN.shape[1], self._before + self._count
        self.u_BT[:, at:at + count] = torch.from_numpy(u_RN).to(self.u_BT)
        if not self._count:  # what was read before is not read again
            self._choose(self.steps.log_probs(self._start.hidden))
        for _ in range(count - (not self._count)):
            self._run()
        self._count += count
        found = self.log_p_BT2[:, at:at + count].cpu().numpy().astype(np.float64)
        return self.ids_BT[:, at:at + count].cpu().numpy(), found[..., 0], found[..., 1]

    @torch.inference_mode()
    def state(self) -> LanguageState:
        """What has been written, as read, in tensors of its own."""
        assert self._start is not None
        if not self._count:
            return self._start
        start, written = self._start, self.ids_BT[:, self._before:self._before + self._count - 1]
        ids = self.model.appended(start.ids.clone(), start.counts, written)
        read = LanguageState(mapped(self.steps.state, torch.clone), start.hidden, ids, start.counts + self._count - 1)
        return self.model.advance(read, self.steps.ids_B1[:, 0])  # the last one was chosen, and not read yet

    def _step(self) -> None:
        self._choose(self.steps.log_probs(self.steps.step()))

    def _choose(self, model_BV: Tensor) -> None:
        ids_B, log_p_B = self.choosing(model_BV, self.ids_BT, self.u_BT.gather(1, self.at_B1)[:, 0])
        ids_B1 = self.steps.ids_B1.copy_(ids_B[:, None])
        both_B12 = torch.stack([log_p_B[:, None], model_BV.gather(1, ids_B1)], dim=-1).to(self.log_p_BT2.dtype)
        self.log_p_BT2.scatter_(1, self.at_B1[:, :, None].expand(-1, -1, 2), both_B12)
        self.ids_BT.scatter_(1, self.at_B1, ids_B1)
        self.at_B1.add_(1)
