"""The log-probability of each line of a text, on its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.evaluation.scoring import token_log_probs
from chainrule.protocols import EncodesText, LanguageModel, Tokenizer
from chainrule.text.corpora import Corpus


@dataclass(frozen=True)
class Scored:
    """The tokens of one line, its end mark included, and ln p of each given those before it."""

    ids: np.ndarray
    log_probs: np.ndarray

    @property
    def log_prob(self) -> float:
        """ln p of the whole line."""
        return float(self.log_probs.sum())


@dataclass(frozen=True)
class ScoredLines:
    """Many lines, one after the other: their ids, ln p of each token, and where each line stops, after its end mark."""

    ids: np.ndarray
    log_probs: np.ndarray
    stops: np.ndarray

    @property
    def log_prob(self) -> np.ndarray:
        """(lines,): ln p of each whole line."""
        return self._summed(self.log_probs, np.float64)

    @property
    def tokens(self) -> np.ndarray:
        """(lines,): how many tokens each line has, its end mark included."""
        return np.diff(self.stops, prepend=0)

    def times(self, token: int | None) -> np.ndarray:
        """(lines,): how often each line has a token; None never occurs."""
        return self._summed(self.ids == token, np.int64) if token is not None else np.zeros(len(self.stops), np.int64)

    def each(self) -> list[Scored]:
        """The lines one by one."""
        parts = (np.split(values, self.stops[:-1]) for values in (self.ids, self.log_probs))
        return [Scored(*own) for own in zip(*parts, strict=True)] if len(self.stops) else []

    def _summed(self, values: np.ndarray, dtype: type) -> np.ndarray:
        starts = np.concatenate([[0], self.stops[:-1]])
        return np.add.reduceat(values, starts, dtype=dtype) if len(self.stops) else np.zeros(0, dtype)


def score(model: LanguageModel, tokenizer: Tokenizer, lines: Sequence[str]) -> list[Scored]:
    """ln p(<s> line </s>) for each line, as if nothing came before it."""
    return _scored(model, tokenizer, tokenizer.encode_lines(lines)).each() if lines else []


def line_log_probs(model: LanguageModel, tokenizer: Tokenizer, lines: Sequence[str]) -> np.ndarray:
    """(lines,): ln p(<s> line </s>) for each line; the quick way to score millions of them."""
    return _scored(model, tokenizer, tokenizer.encode_lines(lines)).log_prob if lines else np.zeros(0)


def score_text(model: LanguageModel, tokenizer: Tokenizer, text: bytes) -> ScoredLines:
    """The same for whole lines of UTF-8 as they lie in a file, each with its newline."""
    if isinstance(tokenizer, EncodesText):
        return _scored(model, tokenizer, tokenizer.encode_text(text))
    return _scored(model, tokenizer, tokenizer.encode_lines(text.decode().split("\n")[:-1]))


def _scored(model: LanguageModel, tokenizer: Tokenizer, ids: np.ndarray) -> ScoredLines:
    stops = np.flatnonzero(ids == tokenizer.end) + 1
    return ScoredLines(ids, token_log_probs(model, ids, stops, pad=tokenizer.end), stops)


def whole_lines(corpus: Corpus, size: int = 1 << 22) -> Iterator[bytes]:
    """All the lines of a corpus, blank ones too, about `size` bytes at a time; each has a newline, also the last."""
    held: list[bytes] = []
    room = size
    for chunk in corpus.chunks(size):
        held.append(chunk.data)
        if chunk.ends_document and not chunk.data.endswith(b"\n") and (chunk.data or _is_open(held)):
            held.append(b"\n")
        room -= len(chunk.data)
        if room <= 0 and (cut := held[-1].rfind(b"\n") + 1):
            rest = held[-1][cut:]
            yield b"".join([*held[:-1], held[-1][:cut]])
            held, room = [rest], size - len(rest)
    if text := b"".join(held):
        yield text


def _is_open(parts: list[bytes]) -> bool:
    """Whether the last line of these parts has no end yet."""
    return not next((part for part in reversed(parts) if part), b"\n").endswith(b"\n")
