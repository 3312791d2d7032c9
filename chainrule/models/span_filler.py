"""A network that writes what was cut out of a text, for `chainrule fill`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from chainrule.generation.decoder import decode
from chainrule.generation.rows import Marks
from chainrule.models.conditional import Conditional
from chainrule.models.given import Given
from chainrule.models.masked import gaps_of
from chainrule.models.stack import Stack
from chainrule.protocols import Tokenizer
from chainrule.recipe.registry import build

LONGEST = 16  # tokens of a gap, on average, that are written


class SpanFiller:
    """p(what stands in the gaps | the rest): one text for all gaps, by beam search; a gap may be several tokens."""

    def __init__(self, stack: Stack, tokenizer: Tokenizer):
        self.stack, self.tokenizer, self.first = stack.eval(), tokenizer, tokenizer.vocabulary_size

    @torch.inference_mode()
    def fill(self, text: str, *, top: int = 5) -> list[list[tuple[str, float]]]:
        """For each [MASK] the texts of the `top` best drafts, each with the probability of its whole draft."""
        assert self.stack.source is not None
        pieces, most = gaps_of(text, self.tokenizer), self.stack.source.shape.context
        parts = [part for n, piece in enumerate(pieces) for part in (piece, np.array([self.first + n]))][:-1]
        end = [self.tokenizer.end]  # a unit between two marks, as in training
        ids = np.concatenate([end, *parts, end]).astype(np.int64)[:most]
        given = Given(torch.from_numpy(ids[None]).to(self.stack.device))
        gaps = len(pieces) - 1
        strategy = build("generation/strategies", {"name": "beam", "beams": max(2, top), "length_penalty": 0.0})
        [drafts] = decode(Conditional(self.stack, self.tokenizer.start, given), [[]], strategy,
                          max_tokens=min(gaps * LONGEST, self.stack.shape.context - 1),
                          marks=Marks(self.tokenizer.start, self.tokenizer.end),
                          stops=lambda written, _: int(written[-1]) == self.first + gaps)  # more gaps than there are
        return [[(self._gap(draft.written, n), float(np.exp(draft.model_log_p))) for draft in drafts[:top]]
                for n in range(gaps)]

    def _gap(self, written: tuple[int, ...], number: int) -> str:
        """What a draft wrote between the sentinel of a gap and the next."""
        ids, wanted = [], False
        for id in written:
            if id >= self.first:
                wanted = id == self.first + number
            elif wanted and id != self.tokenizer.end:
                ids.append(id)
        return self.tokenizer.decode(np.array(ids, np.int32)).strip()

    @torch.inference_mode()
    def answered(self, task: Any, batches: Iterable[Any]) -> np.ndarray:
        """(R, 3) of all rows of batches of NumPy arrays: nats, tokens to guess and right guesses of each."""
        return np.concatenate([task.answered(self.stack, batch.sent(
            lambda ids: torch.from_numpy(ids).to(self.stack.device), None)) for batch in batches])
