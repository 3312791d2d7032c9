"""A stack as a language model: what every family satisfies, in torch."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.models.stack import Stack, StackState
from chainrule.models.windowed import LanguageState, Windowed
from chainrule.models.writing import engine_writer
from chainrule.parts import state as states
from chainrule.protocols import LanguageModel

SCORED_AT_ONCE = 1 << 22  # logits in memory at a time, when whole texts are scored


class NeuralLanguageModel(Windowed, nn.Module):
    """p(w_t | w_<t) = softmax(head(stack(<s> w_<t)))."""

    def __init__(self, stack: Stack, start: int):
        super().__init__()
        self.stack, self.start_id = stack, start
        self.vocabulary_size = len(stack.embedding.weight)
        self.window = stack.shape.context if stack.bounded else None

    def to_write(self) -> LanguageModel[Any]:
        """The same model as it writes fastest: on a CPU the engine's, where that has all of its parts."""
        if self.stack.embedding.weight.is_cuda:
            from chainrule.models.fixed import FixedWriter

            return FixedWriter(self.stack, self.start_id)
        arrays = {name: parameter.detach().numpy() for name, parameter in self.stack.named_parameters()}
        return engine_writer(asdict(self.stack.shape), arrays, self.start_id) or self

    @torch.inference_mode()
    def log_probs(self, state: LanguageState) -> Tensor:
        return self.log_softmax(state.hidden)

    @torch.inference_mode()
    def pick(self, state: LanguageState, rows: Any) -> LanguageState:
        return states.pick(state, torch.as_tensor(rows, device=state.ids.device))

    @torch.inference_mode()
    def score(self, ids: Tensor) -> Tensor:
        ids = ids.to(self.stack.embedding.weight.device).long()
        text = torch.cat([ids.new_full((len(ids), 1), self.start_id), ids], dim=1)
        if self.window is None or text.shape[1] <= self.window + 1:
            return self._scored(text[:, :-1], text[:, 1:])
        return self._in_windows(text)

    def marks(self, batch: int) -> Tensor:
        return torch.full((batch, 1), self.start_id, dtype=torch.long, device=self.stack.embedding.weight.device)

    @torch.inference_mode()
    def fresh(self, batch: int) -> StackState:
        return self.stack.start(batch, min(self.window or 1, 64))

    @torch.inference_mode()
    def taken(self, before: StackState, ids: Tensor, window: Tensor) -> LanguageState:
        hidden, after = self.stack(ids, before)
        assert after is not None
        return LanguageState(after, hidden[:, -1], window)

    def as_ids(self, ids: Tensor, like: Tensor) -> Tensor:
        return ids.to(like)

    def joined(self, before: Tensor, ids: Tensor) -> Tensor:
        return torch.cat([before, ids], dim=1)

    def log_softmax(self, hidden: Tensor) -> Tensor:
        """ln p of every token; <s> begins texts and is in none, so it has no probability."""
        logits = self.stack.head(hidden).float()
        logits[..., self.start_id] = -torch.inf
        return logits.log_softmax(-1)

    def _scored(self, read: Tensor, wanted: Tensor) -> Tensor:
        """(B, T): ln p of each wanted token; rows are taken a few at a time, so that logits never exist whole."""
        rows = max(1, SCORED_AT_ONCE // (self.vocabulary_size * read.shape[1]))
        found = []
        for some_read, some_wanted in zip(read.split(rows), wanted.split(rows), strict=True):
            hidden, _ = self.stack(some_read)
            pieces = [self.log_softmax(h).gather(-1, w[..., None])[..., 0] for h, w in zip(
                hidden.split(max(1, SCORED_AT_ONCE // (self.vocabulary_size * len(hidden))), dim=1),
                some_wanted.split(max(1, SCORED_AT_ONCE // (self.vocabulary_size * len(hidden))), dim=1), strict=True)]
            found.append(torch.cat(pieces, dim=1))
        return torch.cat(found)

    def _in_windows(self, text: Tensor) -> Tensor:
        """A long text: the first window whole, of each later one only what the one before has not scored.

        Windows know nothing of each other, so they are rows of one batch.
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
