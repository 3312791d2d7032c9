"""A stack as a language model, in torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.models.stack import Stack, StackState
from chainrule.models.windowed import LanguageState, Windowed
from chainrule.models.writing import engine_writer
from chainrule.parts import state as states
from chainrule.parts.reading import Reading
from chainrule.protocols import LanguageModel
from chainrule.watching import note

SCORED_AT_ONCE = 1 << 22  # scores in memory at a time, when whole texts are scored


class NeuralLanguageModel(Windowed, nn.Module):
    """p(w_t | w_<t) = head(stack(<s> w_<t))."""

    def __init__(self, stack: Stack, start: int):
        super().__init__()
        self.stack, self.start_id = stack, start
        self.vocabulary_size = stack.head.outputs
        self.context = stack.shape.context
        self.window = self.context if stack.bounded else None
        self._writer: LanguageModel[Any] | None = None

    def to_write(self) -> LanguageModel[Any]:
        """The fastest form of the model for generation: on a CPU the engine's, if that has all of its parts."""
        if self.stack.device.type == "cuda":
            from chainrule.models.writer import GraphWriter

            self._writer = self._writer or GraphWriter(self.stack, self.start_id)
            return self._writer
        arrays = {name: parameter.detach().numpy() for name, parameter in self.stack.named_parameters()}
        return engine_writer(self.stack.shape, arrays, self.start_id) or self

    @torch.inference_mode()
    def log_probs(self, state: LanguageState) -> Tensor:
        return self.stack.head.log_probs(state.hidden, never=(self.start_id,))

    @torch.inference_mode()
    def pick(self, state: LanguageState, rows: Any) -> LanguageState:
        which = self.own(rows)
        stack, hidden, ids = states.pick((state.stack, state.hidden, state.ids), which)
        return replace(state, stack=stack, hidden=hidden, ids=ids, counts=state.counts[which.cpu().numpy()])

    @torch.inference_mode()
    def join(self, states_: Sequence[LanguageState]) -> LanguageState:
        """The rows of several states as one batch."""
        stack, hidden, ids = states.join([(each.stack, each.hidden, each.ids) for each in states_])
        return replace(states_[0], stack=stack, hidden=hidden, ids=ids,
                       counts=np.concatenate([each.counts for each in states_]))

    @torch.inference_mode()
    def score(self, ids: Any) -> Tensor:
        note("model", self)
        ids = self.own(ids)
        text = torch.cat([ids.new_full((len(ids), 1), self.start_id), ids], dim=1)
        if self.window is None or text.shape[1] <= self.window + 1:
            return self._scored(text[:, :-1], text[:, 1:])
        return self._in_windows(text)

    def own(self, ids: Any) -> Tensor:
        return torch.as_tensor(ids, device=self.stack.device).long()

    @torch.inference_mode()
    def fresh(self, batch: int) -> StackState:
        return self.stack.start(batch, min(self.window or 1, 64))

    @torch.inference_mode()
    def taken(self, before: StackState, ids: Tensor) -> tuple[StackState, Tensor]:
        hidden, after = self.stack(ids, before)
        assert after is not None
        return after, hidden[:, -1]

    @torch.inference_mode()
    def begun(self, ids: Tensor) -> tuple[StackState, Tensor]:
        reading = Reading(self.stack.shape.causal).from_start(ids.shape[1], ids.device)
        hidden, after = self.stack(ids, self.fresh(len(ids)), reading)
        assert after is not None
        return after, hidden[:, -1]

    @torch.inference_mode()
    def blank(self, batch: int, room: int) -> Tensor:
        return torch.zeros(batch, room, dtype=torch.long, device=self.stack.device)

    @torch.inference_mode()
    def appended(self, buffer: Tensor, counts: np.ndarray, ids: Tensor) -> Tensor:
        if buffer.shape[1]:
            places = self.own(counts)[:, None] + torch.arange(ids.shape[1], device=ids.device)
            buffer.scatter_(1, places, ids)
        return buffer

    @property
    def layer_names(self) -> tuple[str, ...]:
        return self.stack.shape.layer_names

    @torch.inference_mode()
    def token_vectors(self) -> np.ndarray:
        every = torch.arange(self.stack.vocabulary, device=self.stack.device)
        return self.stack.embedding(every[None])[0].float().cpu().numpy()

    def position_similarity(self) -> list[Any]:
        from chainrule.models.inside.positions import of_stack

        return of_stack(self.stack)

    def gradients(self, ids: np.ndarray, *, clip: float | None = None) -> Any:
        """Norms of gradients on windows of text, as `chainrule inspect --gradients` shows them."""
        from chainrule.models.inside.gradients import measure

        return measure(self.stack.cpu(), torch.from_numpy(ids), clip=clip)

    def _scored(self, read: Tensor, wanted: Tensor) -> Tensor:
        """(B, T): ln p of each wanted token; a few rows and tokens at a time, to bound the memory of scores."""
        rows = max(1, SCORED_AT_ONCE // (self.vocabulary_size * max(1, min(read.shape[1], self.context))))
        return torch.cat([torch.cat([self._chosen(h, w) for h, w in self._along(*some)], dim=1)
                          for some in zip(read.split(rows), wanted.split(rows), strict=True)])

    def _along(self, read: Tensor, wanted: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Hidden states and wanted tokens, stretch by stretch; no sublayer is given more than the context at once."""
        context = self.stack.shape.context
        state = self.stack.start(len(read), 1) if self.window is None and read.shape[1] > context else None
        time = max(1, SCORED_AT_ONCE // (self.vocabulary_size * max(1, len(read))))
        for now, then in zip(read.split(context, dim=1), wanted.split(context, dim=1), strict=True):
            hidden, state = self.stack(now, state)
            yield from zip(hidden.split(time, dim=1), then.split(time, dim=1), strict=True)

    def _chosen(self, hidden: Tensor, wanted: Tensor) -> Tensor:
        return self.stack.head.log_probs(hidden, never=(self.start_id,)).gather(-1, wanted[..., None])[..., 0]

    def _in_windows(self, text: Tensor) -> Tensor:
        """A long text in overlapping windows: the first is scored whole, later ones only where the one before ended.

        Windows are independent, so they are rows of one batch.
        """
        assert self.window is not None
        keep = self.window - self.stride
        windows_BNT = text.unfold(1, self.window + 1, self.stride)
        rows, count = windows_BNT.shape[:2]
        flat = windows_BNT.flatten(0, 1)
        scored_BNT = self._scored(flat[:, :-1], flat[:, 1:]).view(rows, count, self.window)
        found = [scored_BNT[:, 0], scored_BNT[:, 1:, keep:].flatten(1)]
        rest = text[:, count * self.stride:]  # begins a window that the text does not fill
        if rest.shape[1] - 1 > keep:
            found.append(self._scored(rest[:, :-1], rest[:, 1:])[:, keep:])
        return torch.cat(found, dim=1)
