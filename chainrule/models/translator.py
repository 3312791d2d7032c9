"""A stack with a source as a translator: sources in, the likeliest targets out, with scores and alignments."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from chainrule.errors import UsageError
from chainrule.generation.decoder import decode
from chainrule.generation.rows import Draft, Marks
from chainrule.models.classifier import by_length
from chainrule.models.conditional import Conditional
from chainrule.models.given import Given
from chainrule.models.stack import Stack
from chainrule.recipe.registry import build
from chainrule.text.tokenizer import as_words
from chainrule.watching import watch

AT_ONCE = 1 << 12  # tokens of sources that are translated together, times the number of beams
LONGER, MORE = 1.5, 20  # a target may have so many times the tokens of its source, and so many more
OVER_SOURCE = "over source/attention"  # the end of the name under which attention over a source is noted
log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class Translated:
    """A target: its text, ln p by the model, and by what it is ranked, ln p divided by the length penalty."""

    text: str
    ids: tuple[int, ...]
    log_prob: float
    score: float


@dataclass(frozen=True)
class Alignment:
    """How much each token of a target looked at each token of its source, a mean over heads and layers."""

    source: list[str]
    target: list[str]
    weights: np.ndarray  # (target, source)


class NeuralTranslator:
    """p(target | source) = Π_t p(w_t | w_<t, source); `given` makes a language model of it."""

    def __init__(self, stack: Stack, known: Any, task: Any):
        self.stack, self.known, self.task = stack.eval(), known, task
        self.tokenizer = known.tokenizer

    def given(self, sources: Sequence[str | bytes]) -> Conditional:
        """The language model whose i-th row has the i-th source."""
        return self._given(self._encoded(sources))

    def translate(self, sources: Sequence[str | bytes], *, beams: int = 5, num: int = 1, max_tokens: int | None = None,
                  length_penalty: float = 0.6, coverage_penalty: float = 0.0) -> list[list[Translated]]:
        """For each source its `num` best targets by beam search; one beam is greedy. An empty source has none."""
        rows = max(beams, num)
        chosen = build("generation/strategies", {"name": "greedy"} if rows == 1 else {
            "name": "beam", "beams": rows, "length_penalty": length_penalty})
        arrays = self._encoded(sources)
        found: list[list[Translated]] = [[] for _ in arrays]
        there = np.flatnonzero([bool(each.strip()) for each in sources])
        for numbers in by_length([len(arrays[n]) for n in there], max(1, AT_ONCE // rows)):
            which = there[numbers]
            some = [arrays[n] for n in which]
            most = self._most(max(map(len, some)), max_tokens)
            drafts = decode(self._given(some), [[]] * len(some), chosen, max_tokens=most,
                            marks=Marks(self.tokenizer.start, self.tokenizer.end, self.tokenizer.unknown))
            for number, own in zip(which, drafts, strict=True):
                found[number] = self._ranked(sources[number], own, chosen, coverage_penalty)[:num]
        return found

    def _ranked(self, source: str | bytes, drafts: Sequence[Draft], strategy: Any, coverage_penalty: float
                ) -> list[Translated]:
        """Finished drafts, the best first: with a coverage penalty β, by s(Y) + β Σ_s ln min(Σ_t α_ts, 1).

        Wu et al. 2016, arXiv:1609.08144, eq. 14; drafts are ranked by it once they have ended.
        """
        found = [self._translated(source, draft, strategy) for draft in drafts]
        if not coverage_penalty:
            return found
        ranked = []
        for each in found:
            aligned = self.align(source, each.text)
            if aligned is None:
                raise UsageError("coverage_penalty: this model does not look at single tokens of the source, so what "
                                 "it leaves out cannot be seen. Leave it out.")
            seen = np.minimum(aligned.weights.sum(axis=0), 1.0)
            ranked.append(replace(each, score=each.score + coverage_penalty * float(np.log(np.maximum(
                seen, 1e-9)).sum())))
        return sorted(ranked, key=lambda each: -each.score)

    def score(self, sources: Sequence[str | bytes], targets: Sequence[str]) -> list[float]:
        """ln p of each target given its source, the end mark included."""
        return [float(self.given([source]).score(self._target(target)[None])[0].sum())
                for source, target in zip(sources, targets, strict=True)]

    def align(self, source: str | bytes, target: str) -> Alignment | None:
        """What the tokens of a target looked at; None for a network that looks at all of the source alike."""
        ids = self._target(target)
        weights = self._aligned(source, ids)
        if weights is None:
            return None
        return Alignment(self._names(source), as_words(self.tokenizer, ids.tolist()), weights)

    def _names(self, source: str | bytes) -> list[str]:
        """What the vectors of a source stand for: its tokens, or places of an image, row.column from 1."""
        assert self.stack.source is not None
        embedding: Any = self.stack.source.embedding
        if (grid := getattr(embedding, "grid", None)) is None:
            return self.task.modality.names(self._encoded([source])[0], self.known.source)
        return ["class"] * embedding.before + [f"{row}.{column}" for row in range(1, grid[0] + 1)
                                               for column in range(1, grid[1] + 1)]

    @torch.inference_mode()
    def _aligned(self, source: str | bytes, ids: np.ndarray) -> np.ndarray | None:
        """(target, source): the mean weights of all attention over the source."""
        with watch() as seen:
            self.given([source]).score(ids[None])
        maps = [value[0].mean(0) for name, values in seen.items() for value in values
                if name.endswith(OVER_SOURCE) and torch.is_tensor(value)]
        return torch.stack(maps).mean(0).float().cpu().numpy() if maps else None

    def _target(self, text: str) -> np.ndarray:
        return np.append(self.tokenizer.encode(text), self.tokenizer.end)

    def _encoded(self, sources: Sequence[str | bytes]) -> list[np.ndarray]:
        files = bool(self.task.modality.endings)
        values = [each.encode(errors="surrogateescape" if files else "replace") if isinstance(each, str) else each
                  for each in sources]
        assert self.stack.source is not None
        most = self.stack.source.shape.context
        found = self.task.encoded_sources(values, self.known, 1 << 30)
        if self.task.modality.whole:
            return found
        if (long := sum(len(each) > most for each in found)) and self.stack.source.bounded:
            log.info(f"{long:,} of {len(found):,} sources are longer than model.source.context = {most} tokens; only "
                     "so many of them are read.")
            found = [each[:most] for each in found]
        return found

    def _given(self, arrays: Sequence[np.ndarray]) -> Conditional:
        inputs, lengths = self.task.modality.batch(arrays, self.known.facts.get("inputs", {}), None)
        device = self.stack.device
        given = Given(torch.from_numpy(inputs).to(device), None if lengths is None else torch.from_numpy(lengths).to(
            device))
        return Conditional(self.stack, self.tokenizer.start, given)

    def _most(self, length: int, asked: int | None) -> int:
        usual = int(LONGER * length) + MORE
        return max(1, min(asked or usual, self.stack.shape.context - 1) if self.stack.bounded else asked or usual)

    def _translated(self, source: str | bytes, draft: Draft, strategy: Any) -> Translated:
        ids = np.array([id for id in draft.written if id != self.tokenizer.end], np.int32)
        score = strategy.score(draft) if hasattr(strategy, "score") else draft.log_p
        text = self.tokenizer.decode(ids)
        if self.tokenizer.unknown is not None and (ids == self.tokenizer.unknown).any():
            text = self._without_unknowns(source, ids) or text
        return Translated(text, draft.written, draft.model_log_p, score)

    def _without_unknowns(self, source: str | bytes, ids: np.ndarray) -> str | None:
        """Each unknown word replaced by the word of the source that it looked at most.

        Luong et al. 2015, arXiv:1410.8206, §3.3, with attention in the place of their alignment. None where tokens are
        not words, or where the network does not look at single ones.
        """
        if self.task.modality.endings:
            return None
        words = (source if isinstance(source, str) else source.decode(errors="replace")).split()
        aligned = self._aligned(source, np.append(ids, self.tokenizer.end))
        if aligned is None or len(self._encoded([source])[0]) != len(words) + 2:
            return None
        places = np.arange(len(words))[::-1] if self.task.reverse else np.arange(len(words))
        best = places[aligned[:, 1:-1].argmax(axis=1)] if words else []
        return " ".join(words[best[t]] if id == self.tokenizer.unknown else self.tokenizer.token(id)
                        for t, id in enumerate(ids.tolist()))
