"""A stack that reads both ways as a masked language model, for `chainrule fill`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from chainrule.errors import UsageError
from chainrule.models.stack import Stack
from chainrule.protocols import Tokenizer

GAP = "[MASK]"


class MaskedModel:
    """p(w at the gap | what stands on both sides); [MASK] is the token behind the tokenizer's own."""

    def __init__(self, stack: Stack, tokenizer: Tokenizer):
        self.stack, self.tokenizer, self.mask = stack.eval(), tokenizer, tokenizer.vocabulary_size

    @torch.inference_mode()
    def fill(self, text: str, *, top: int = 5) -> list[list[tuple[str, float]]]:
        """For each [MASK] in the text, the likeliest tokens with their probabilities."""
        ids = self._ids(text)
        hidden, _ = self.stack(torch.from_numpy(ids[None]).to(self.stack.device))
        never = (self.mask, self.tokenizer.start, self.tokenizer.end)  # marks are never hidden
        p = self.stack.head.log_probs(hidden[0, torch.from_numpy(np.flatnonzero(ids == self.mask))], never).exp()
        best = p.topk(min(top, self.tokenizer.vocabulary_size - 2), dim=-1)
        return [[(self._spelled(id), chance) for id, chance in zip(which.tolist(), chances.tolist(), strict=True)]
                for which, chances in zip(best.indices, best.values, strict=True)]

    @torch.inference_mode()
    def measured(self, task: Any, batches: Iterable[Any]) -> dict[str, float]:
        """What a task measures on batches of NumPy arrays."""
        return task.validate(self.stack, (batch.sent(lambda ids: torch.from_numpy(ids).to(self.stack.device), None)
                                          for batch in batches))

    def _ids(self, text: str) -> np.ndarray:
        """The tokens of the text as a unit between two marks, with the gaps in it."""
        pieces = text.split(GAP)
        if len(pieces) == 1:
            raise UsageError(f"{text!r} has no {GAP}, expected one for each gap: 'The {GAP} sat on the mat'.")
        if self._joins_space():  # then the space before a gap belongs to the token in it
            pieces = [piece.removesuffix(" ") for piece in pieces[:-1]] + pieces[-1:]
        gap = np.array([self.mask])
        found = [part for piece in pieces for part in (self.tokenizer.encode(piece), gap)][:-1]
        ids = np.concatenate([[self.tokenizer.end], *found, [self.tokenizer.end]]).astype(np.int64)
        if len(ids) > self.stack.shape.context and self.stack.bounded:
            raise UsageError(f"the text has {len(ids):,} tokens with its two marks, expected at most model.context = "
                             f"{self.stack.shape.context:,}. Give a shorter passage.")
        return ids

    def _joins_space(self) -> bool:
        """Whether a space and the word behind it are one token."""
        together, space, letter = (len(self.tokenizer.encode(each)) for each in (" a", " ", "a"))
        return together < space + letter

    def _spelled(self, id: int) -> str:
        text = self.tokenizer.decode(np.array([id], np.int32))
        return text.strip() or (repr(text) if text else self.tokenizer.token(id))
