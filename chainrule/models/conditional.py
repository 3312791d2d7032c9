"""A network that is given sources is a language model: p(target | source), one token at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.errors import UsageError
from chainrule.models.given import Given
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.stack import Stack, StackState
from chainrule.models.windowed import LanguageState
from chainrule.parts.heads._source import SeenSource
from chainrule.parts.reading import Reading
from chainrule.protocols import LanguageModel


@dataclass(frozen=True)
class SourcedState(LanguageState):
    """Also which source each row has, by its number (B,)."""

    rows: np.ndarray


class Conditional(NeuralLanguageModel):
    """p(w_t | w_<t, source) = head(stack(<s> w_<t; source)): row i has the i-th source.

    The sources are read once; the state of each row keeps what cross-attention needs of its own, so rows may be picked
    and joined as those of any language model.
    """

    def __init__(self, stack: Stack, start: int, given: Given):
        super().__init__(stack, start)
        with torch.inference_mode():
            reading = stack.looking_at(given)
        assert reading.source is not None
        self.sources, self.source_lengths, self.given = reading.source, reading.source_lengths, given
        self.source_layers = reading.source_layers

    def to_write(self) -> LanguageModel[Any]:
        return self

    def start(self, batch: int) -> LanguageState:
        """Of all sources, in their order."""
        if batch != len(self.sources):
            raise UsageError(f"a batch of {batch} rows, expected one for each of the {len(self.sources)} sources.")
        return self.begin(np.arange(batch))

    @torch.inference_mode()
    def begin(self, rows: np.ndarray) -> LanguageState:
        """The rows of these sources after <s>."""
        which = self.own(rows)
        ids = torch.full((len(which), 1), self.start_id, dtype=torch.long, device=self.stack.device)
        hidden, after = self.stack(ids, self.fresh(len(which)), self._reading(which).from_start(1, ids.device))
        counts = np.zeros(len(which), np.int64)
        buffer = self.appended(self.blank(len(which), self.window or 0), counts, ids)
        return SourcedState(after, hidden[:, -1], buffer, counts + 1, np.asarray(rows))

    @torch.inference_mode()
    def log_probs(self, state: LanguageState) -> Tensor:
        if not self.stack.head.looks_at_source:
            return super().log_probs(state)
        assert isinstance(state, SourcedState)
        return self.stack.head.log_probs(state.hidden, (self.start_id,), self._seen(self.own(state.rows)))

    def pick(self, state: LanguageState, rows: Any) -> LanguageState:
        found: Any = super().pick(state, rows)
        return replace(found, rows=found.rows[np.asarray(self.own(rows).cpu())])

    def join(self, states_: Sequence[Any]) -> LanguageState:
        found: Any = super().join(states_)
        return replace(found, rows=np.concatenate([each.rows for each in states_]))

    def begun(self, ids: Tensor) -> tuple[StackState, Tensor]:
        raise UsageError(f"a target of {ids.shape[1]:,} tokens or more does not fit into model.context = "
                         f"{self.context:,}. Write fewer tokens.")

    def read(self, state: LanguageState | None, ids: Any) -> LanguageState:
        return super().read(self.start(len(ids)) if state is None else state, ids)

    @torch.inference_mode()
    def score(self, ids: Any) -> Tensor:
        """(B, T): ln p of the targets (B, T), row by row of their sources."""
        wanted = self.own(ids)
        read = torch.cat([wanted.new_full((len(wanted), 1), self.start_id), wanted[:, :-1]], dim=1)
        every = torch.arange(len(wanted), device=self.stack.device)
        hidden, _ = self.stack(read, None, self._reading(every))
        if not self.stack.head.looks_at_source:
            return self._chosen(hidden, wanted)
        log_p = self.stack.head.log_probs(hidden, (self.start_id,), self._seen(every))
        return log_p.gather(-1, wanted[..., None])[..., 0]

    def _seen(self, rows: Tensor) -> SeenSource:
        lengths = None if self.source_lengths is None else self.source_lengths[rows]
        return SeenSource(self.sources[rows], self.given.inputs[rows], lengths)

    def _reading(self, rows: Tensor) -> Reading:
        lengths = None if self.source_lengths is None else self.source_lengths[rows]
        layers = None if self.source_layers is None else tuple(each[rows] for each in self.source_layers)
        return Reading(self.stack.shape.causal, source=self.sources[rows], source_lengths=lengths, source_layers=layers)
