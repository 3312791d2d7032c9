"""Networks as transcribers: recordings in, the likeliest texts out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from chainrule.errors import OptionError
from chainrule.inputs.arrays import padded
from chainrule.models.classifier import AT_ONCE, by_length
from chainrule.models.hearing import Heard, spans_of, words_of
from chainrule.models.stack import Stack
from chainrule.models.translator import NeuralTranslator
from chainrule.parts.heads._alignments import best_alignment
from chainrule.parts.heads._ctc_search import best_path
from chainrule.parts.heads._head import IGNORED
from chainrule.parts.reading import Reading

LONG = 1 << 12  # frames, of which an embedding makes fewer vectors
Texts = list[tuple[str, float]]  # likeliest first, with ln p


class CTCTranscriber:
    """p(text | recording), summed over all ways in which the frames can say it; see `parts.heads.ctc`."""

    def __init__(self, stack: Stack, known: Any, modality: Any):
        self.stack, self.known, self.modality = stack.eval(), known, modality
        self.tokenizer = known.tokenizer

    @torch.inference_mode()
    def transcribe(self, recordings: Sequence[str | bytes], *, beams: int = 1) -> list[Texts]:
        """The best path of each recording; with several beams as many texts, by a search over prefixes."""
        _check(beams)
        arrays = self.encoded(recordings)
        found: list[Texts] = [[] for _ in arrays]
        for numbers, hidden, lengths in self._hidden(arrays):
            if beams == 1:
                ids = self.stack.head.decode(hidden, lengths)
                texts = [[(own, -lost)] for own, lost in zip(ids, self._losses(hidden, ids, lengths), strict=True)]
            else:
                texts = self.stack.head.search(hidden, lengths, beams)
            for number, own in zip(numbers.tolist(), texts, strict=True):
                found[number] = self._spelled(own)
        return found

    def encoded(self, recordings: Sequence[str | bytes]) -> list[np.ndarray]:
        """Frames of log-mel energies; all of them, unless the network knows only so many positions."""
        values = [each.encode(errors="surrogateescape") if isinstance(each, str) else each for each in recordings]
        most = 1 << 30 if self.stack.position.context is None else self.stack.shape.context
        return self.modality.encode(values, None, self.known.facts["inputs"], most)

    @torch.inference_mode()
    def heard(self, recording: str | bytes) -> Heard:
        """The best path of one recording, and which vectors say which of its tokens in the likeliest alignment."""
        [array] = self.encoded([recording])
        [(_, hidden, lengths)] = self._hidden([array])
        log_p_TV, blank = self.stack.head.log_probs(hidden)[0].float().cpu().numpy(), self.stack.head.blank
        ids = best_path(log_p_TV, blank)
        places = best_alignment(log_p_TV, ids, blank)
        assert places is not None, "the best path is itself an alignment"
        [(text, log_prob)] = self._spelled([(ids, -self._losses(hidden, [ids], lengths)[0])])
        return Heard(text, log_prob, [self.tokenizer.token(int(id)) for id in ids], spans_of(places, len(ids)),
                     np.exp(log_p_TV[:, ids].T), seconds_of_a_vector(self.stack, self.modality),
                     words_of(_prefixes(self.tokenizer, ids)))

    def _hidden(self, arrays: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, Any, Any]]:
        """Recordings of like length together: their numbers, hidden states and how many of each row are real."""
        self.stack.eval()
        for numbers in by_length([len(each) for each in arrays], AT_ONCE):
            inputs, lengths = self.modality.batch([arrays[n] for n in numbers], self.known.facts["inputs"], None)
            real = torch.from_numpy(lengths).to(self.stack.device)
            hidden, _ = self.stack(torch.from_numpy(inputs).to(self.stack.device), None,
                                   Reading(self.stack.shape.causal, lengths=real))
            yield numbers, hidden, self.stack.lengths(real)

    def _losses(self, hidden: Any, ids: Sequence[np.ndarray], lengths: Any) -> list[float]:
        """−ln p of these ids."""
        wanted = torch.from_numpy(padded([np.append(own, IGNORED) for own in ids], IGNORED)).to(hidden.device)
        return self.stack.head.losses(hidden, wanted, lengths).tolist()

    def _spelled(self, texts: Sequence[tuple[np.ndarray, float]]) -> Texts:
        """Several ids may be spelled alike; then their probabilities are added."""
        found: dict[str, float] = {}
        for ids, log_p in texts:
            text = " ".join(self.tokenizer.decode(ids.astype(np.int32)).split())
            found[text] = float(np.logaddexp(found[text], log_p)) if text in found else float(log_p)
        return sorted(found.items(), key=lambda each: -each[1])


class AttentionTranscriber:
    """p(text | recording) = Π_t p(w_t | w_<t, recording)."""

    def __init__(self, translator: NeuralTranslator):
        self.translator, self.stack, self.known = translator, translator.stack, translator.known

    def transcribe(self, recordings: Sequence[str | bytes], *, beams: int = 1) -> list[Texts]:
        """By beam search; one beam is greedy. A text has at most as many tokens as the recording has vectors.

        A decoder that has lost its place may repeat itself without end, and nobody speaks so fast.
        """
        _check(beams)
        values = [each.encode(errors="surrogateescape") if isinstance(each, str) else each for each in recordings]
        found: list[list[Any]] = [[] for _ in values]
        assert self.stack.source is not None
        frames = np.array([len(each) for each in self.translator.task.encoded_sources(values, self.known, 1 << 30)])
        vectors = self.stack.source.lengths(torch.from_numpy(frames)).tolist()
        for numbers in by_length(vectors, AT_ONCE // 16):
            most = max(vectors[n] for n in numbers)
            some = self.translator.translate([values[n] for n in numbers], beams=beams, num=beams, max_tokens=most)
            for n, own in zip(numbers.tolist(), some, strict=True):
                found[n] = own
        return [[(" ".join(each.text.split()), each.log_prob) for each in own] or [("", 0.0)] for own in found]

    def heard(self, recording: str | bytes) -> Heard:
        """What is greedily written of one recording, and where the decoder looked while it wrote each token."""
        [[(text, log_prob)]] = self.transcribe([recording])
        tokenizer, ids = self.translator.tokenizer, self.translator.tokenizer.encode(text)
        aligned = self.translator.align(recording, text)
        assert self.stack.source is not None
        weights = np.zeros((len(ids), 1)) if aligned is None else aligned.weights[:len(ids)]
        best = weights.argmax(1)
        return Heard(text, log_prob, [tokenizer.token(int(id)) for id in ids], [(int(t), int(t) + 1) for t in best],
                     weights, seconds_of_a_vector(self.stack.source, self.translator.task.modality),
                     words_of(_prefixes(tokenizer, ids)), "attention")


def seconds_of_a_vector(stack: Stack, modality: Any) -> float:
    """From one vector that the network reads to the next."""
    return modality.frames.hop * LONG / int(stack.lengths(torch.tensor([LONG]))[0])


def _prefixes(tokenizer: Any, ids: np.ndarray) -> list[str]:
    return [tokenizer.decode(ids[:n + 1].astype(np.int32)) for n in range(len(ids))]


def _check(beams: int) -> None:
    if beams < 1:
        raise OptionError("beams", beams, "at least 1")
