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
AT_ONCE = 1 << 14  # tokens that are read together, where each is hidden once


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
    def score_units(self, ids: np.ndarray) -> np.ndarray:
        """(T,): ln p of each token given all others of its unit, for a stream of units that each end with </s>.

        Their sum is the pseudo-log-likelihood of a unit: Salazar et al. 2020, arXiv:1910.14659, eq. 1. A mark has 0: it
        is never hidden. Units that are longer than the context are read in pieces of its length.
        """
        self.stack.eval()
        found, stops, begin = np.zeros(len(ids)), np.flatnonzero(ids == self.tokenizer.end) + 1, 0
        for stop in stops.tolist():
            for low in range(begin, stop - 1, self.room):
                high = min(low + self.room, stop - 1)
                found[low:high] = self._pseudo(ids[low:high].astype(np.int64))
            begin = stop
        return found

    @property
    def room(self) -> int:
        """Tokens of a unit that fit between its two marks."""
        return max(1, self.stack.shape.context - 2)

    def _pseudo(self, ids: np.ndarray) -> np.ndarray:
        """ln p of each of some tokens, each hidden once."""
        whole = np.concatenate([[self.tokenizer.end], ids, [self.tokenizer.end]])
        found = np.zeros(len(ids))
        rows = max(1, AT_ONCE // len(whole))
        for low in range(0, len(ids), rows):
            places = np.arange(low, min(low + rows, len(ids)))
            read = np.repeat(whole[None], len(places), axis=0)
            read[np.arange(len(places)), 1 + places] = self.mask
            hidden, _ = self.stack(torch.from_numpy(read).to(self.stack.device))
            gaps = hidden[torch.arange(len(places)), torch.from_numpy(1 + places)]
            log_p = self.stack.head.log_probs(gaps, (self.mask, self.tokenizer.start, self.tokenizer.end))
            wanted = torch.from_numpy(ids[places]).to(log_p.device)
            found[low:low + len(places)] = log_p.gather(1, wanted[:, None])[:, 0].double().cpu().numpy()
        return found

    @torch.inference_mode()
    def answered(self, task: Any, batches: Iterable[Any]) -> np.ndarray:
        """(R, 3) of all rows of batches of NumPy arrays: nats, tokens to guess and right guesses of each."""
        return np.concatenate([task.answered(self.stack, batch.sent(
            lambda ids: torch.from_numpy(ids).to(self.stack.device), None)) for batch in batches])

    def _ids(self, text: str) -> np.ndarray:
        """The tokens of the text as a unit between two marks, with the gaps in it."""
        gap = np.array([self.mask])
        found = [part for piece in gaps_of(text, self.tokenizer) for part in (piece, gap)][:-1]
        ids = np.concatenate([[self.tokenizer.end], *found, [self.tokenizer.end]]).astype(np.int64)
        if len(ids) > self.stack.shape.context and self.stack.bounded:
            raise UsageError(f"the text has {len(ids):,} tokens with its two marks, expected at most model.context = "
                             f"{self.stack.shape.context:,}. Give a shorter passage.")
        return ids

    def _spelled(self, id: int) -> str:
        text = self.tokenizer.decode(np.array([id], np.int32))
        return text.strip() or text or self.tokenizer.token(id)


def gaps_of(text: str, tokenizer: Tokenizer) -> list[np.ndarray]:
    """The tokens before, between and behind the gaps of a text; one without gaps is refused."""
    pieces = text.split(GAP)
    if len(pieces) == 1:
        raise UsageError(f"{text!r} has no {GAP}, expected one for each gap: 'The {GAP} sat on the mat'.")
    if _joins_space(tokenizer):  # then the space before a gap belongs to the token in it
        pieces = [piece.removesuffix(" ") for piece in pieces[:-1]] + pieces[-1:]
    return [tokenizer.encode(piece) for piece in pieces]


def _joins_space(tokenizer: Tokenizer) -> bool:
    """Whether a space and the word behind it are one token."""
    together, space, letter = (len(tokenizer.encode(each)) for each in (" a", " ", "a"))
    return together < space + letter
