"""The log-probability of each line of a text, on its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.evaluation.scoring import token_log_probs
from chainrule.protocols import LanguageModel, Tokenizer
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


def score(model: LanguageModel, tokenizer: Tokenizer, lines: Sequence[str]) -> list[Scored]:
    """ln p(<s> line </s>) for each line, as if nothing came before it."""
    if not lines:
        return []
    ids, log_p, stops = _all_at_once(model, tokenizer, lines)
    return [Scored(*own) for own in zip(np.split(ids, stops[:-1]), np.split(log_p, stops[:-1]), strict=True)]


def line_log_probs(model: LanguageModel, tokenizer: Tokenizer, lines: Sequence[str]) -> np.ndarray:
    """(lines,): ln p(<s> line </s>) for each line; the quick way to score millions of them."""
    if not lines:
        return np.zeros(0)
    _, log_p, stops = _all_at_once(model, tokenizer, lines)
    return np.add.reduceat(log_p, np.concatenate([[0], stops[:-1]]), dtype=np.float64)


def _all_at_once(model: LanguageModel, tokenizer: Tokenizer, lines: Sequence[str]
                 ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ids of all lines, ln p of each, and where each line stops."""
    ids = tokenizer.encode_lines(lines)
    stops = np.flatnonzero(ids == tokenizer.end) + 1
    return ids, token_log_probs(model, ids, stops, pad=tokenizer.end), stops


def lines_of(corpus: Corpus, batch: int = 4096) -> Iterator[list[str]]:
    """All the lines of a corpus, blank ones too, so that they can be counted; about `batch` at a time."""
    lines: list[str] = []
    open_line = b""
    for chunk in corpus.chunks(1 << 20):
        *whole, open_line = (open_line + chunk.data).split(b"\n")
        if chunk.ends_document and open_line:
            whole, open_line = [*whole, open_line], b""
        lines += [line.decode() for line in whole]
        if len(lines) >= batch:
            yield lines
            lines = []
    if lines:
        yield lines
