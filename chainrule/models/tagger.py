"""A stack that gives every word a tag."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from chainrule.models.classifier import by_length
from chainrule.models.stack import Stack
from chainrule.parts.reading import Reading

log = logging.getLogger("chainrule")
AT_ONCE = 1 << 13  # words of a batch, padding included


class NeuralTagger:
    """p(tags | words) by the head of a stack that reads both ways; a sentence beyond the context is read in pieces."""

    def __init__(self, stack: Stack, known: Any, modality: Any):
        self.stack, self.known, self.modality = stack.eval(), known, modality
        self.tags: Sequence[str] = list(known.facts.get("tags", ["0", "1"]))
        self.facts = known.facts.get("inputs", {})

    def knows(self, word: str) -> bool:
        """Whether training had it, in whatever case."""
        return self.modality.knows(word, self.facts)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The likeliest tags of each sentence, together where the head chooses so."""
        found: list[list[str]] = [[] for _ in sentences]
        for number, own in self._read(sentences, lambda hidden, lengths: self.stack.head.decode(hidden, lengths)):
            found[number] += [self.tags[id] for id in own]
        return found

    def probabilities(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """(words, tags) of each sentence: p of each tag at a word, whatever tags its neighbors have."""
        found: list[list[np.ndarray]] = [[np.zeros((0, len(self.tags)), np.float32)] for _ in sentences]
        for number, own in self._read(sentences, self._probabilities):
            found[number].append(own)
        return [np.concatenate(own) for own in found]

    def _probabilities(self, hidden: Any, lengths: Any) -> list[np.ndarray]:
        head = self.stack.head
        log_p = head.log_probs(hidden, lengths=lengths) if head.sequential else head.log_probs(hidden)
        p_BTC = log_p.float().exp().cpu().numpy()
        return [own[:length] for own, length in zip(p_BTC, lengths.tolist(), strict=True)]

    def tag_transitions(self) -> np.ndarray | None:
        """(tags, tags): the score of one tag after another, where the head learns one; from rows to columns."""
        found = getattr(self.stack.head, "transitions", None)
        return None if found is None else found.detach().float().cpu().numpy()

    @torch.inference_mode()
    def _read(self, sentences: Sequence[Sequence[str]], give: Any) -> Iterator[tuple[int, Any]]:
        """What `give` makes of the hidden states of each sentence, with its number; its pieces in their order."""
        self.stack.eval()
        pieces = [(number, piece) for number, words in enumerate(sentences)
                  for piece in in_pieces(words, self.stack.shape.context)]
        say_long([len(words) for words in sentences], self.stack.shape.context)
        arrays = self.modality.encode([words for _, words in pieces], None, self.facts, 1 << 30)
        found: list[Any] = [None] * len(pieces)
        for numbers in by_length([len(each) for each in arrays], AT_ONCE):
            inputs, lengths = (torch.from_numpy(each).to(self.stack.device) for each in self.modality.batch(
                [arrays[n] for n in numbers], self.facts, None))
            hidden, _ = self.stack(inputs, None, Reading(self.stack.shape.causal, lengths=lengths))
            for n, own in zip(numbers, give(hidden, lengths), strict=True):
                found[n] = own
        return iter([(number, own) for (number, _), own in zip(pieces, found, strict=True)])


def in_pieces(words: Sequence[Any], most: int) -> list[Sequence[Any]]:
    """A sentence as it is, or in pieces of at most so many words, of about the same length."""
    count = -(-len(words) // most)
    return [words[n * len(words) // count:(n + 1) * len(words) // count] for n in range(count)]


def say_long(lengths: Sequence[int], context: int) -> None:
    """A line about sentences that are longer than what is read at once."""
    if long := sum(length > context for length in lengths):
        which = "1 sentence is" if long == 1 else f"{long:,} sentences are"
        log.warning(f"{which} longer than model.context = {context:,} words, up to {max(lengths):,}: read in pieces.")
