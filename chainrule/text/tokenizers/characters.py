"""Characters: every code point a token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.recipe.registry import part
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.tokenizer import TrainedTokenizer
from chainrule.text.tokenizers._layout import layout
from chainrule.text.tokenizers._ranking import check, ranked
from chainrule.text.units import END, Stretch, stretches, unit_of

UNKNOWN, START, STOP = 0, 1, 2
CODES = 0x110000  # code points of Unicode
END_CODE = 0xDC00 + END[0]  # how `surrogateescape` decodes the byte: a code that no text has


@part
@dataclass(frozen=True, kw_only=True)
class Characters:
    """Every Unicode code point is a token, the newline too; unseen ones become <unk>."""

    min_count: int = 1
    size: int | None = None
    keeps_space = True

    def __post_init__(self) -> None:
        check("characters", specials=3, min_count=self.min_count, size=self.size)

    def train(self, corpus: Corpus, options: TextOptions) -> CharacterTokenizer:
        return self._ranked(code_counts(corpus, options))

    def join(self, parts: Sequence[CharacterTokenizer], counts: Sequence[np.ndarray]
             ) -> tuple[CharacterTokenizer, list[np.ndarray]]:
        """The vocabulary of the parts' texts taken together, and for each part its ids' new ids."""
        total = np.zeros(CODES, np.int64)
        codes = [np.array([ord(token) for token in part.tokens[3:]], np.int64) for part in parts]
        for own, times in zip(codes, counts, strict=True):
            total[own] += times[3:]
        joined = self._ranked(total)
        return joined, [np.concatenate([[UNKNOWN, START, STOP], joined.table[own]]).astype(np.int32) for own in codes]

    def _ranked(self, counts: np.ndarray) -> CharacterTokenizer:
        seen = np.flatnonzero(counts)
        room = None if self.size is None else self.size - 3
        best = seen[ranked(counts[seen], np.arange(len(seen)), self.min_count, room)]
        return CharacterTokenizer(["<unk>", "<s>", "</s>", *map(chr, best.tolist())])

    @staticmethod
    def load(layout: Mapping[str, Any]) -> CharacterTokenizer:
        vocabulary = layout["model"]["vocab"]
        return CharacterTokenizer(sorted(vocabulary, key=vocabulary.__getitem__))


class CharacterTokenizer(TrainedTokenizer):
    """A fixed vocabulary of characters: lossless on every text that has no others."""

    name, unknown, start, end = "characters", UNKNOWN, START, STOP
    lossless, keeps_space = False, True

    def __init__(self, tokens: Sequence[str]):
        self.tokens = tokens
        self.vocabulary_size = len(tokens)

    @cached_property
    def table(self) -> np.ndarray:
        """(code points,) the id of each."""
        table = np.full(CODES, UNKNOWN, np.int32)
        table[[ord(token) for token in self.tokens[3:]]] = np.arange(3, self.vocabulary_size)
        table[END_CODE] = STOP
        return table

    def encode(self, text: str) -> np.ndarray:
        return self.table[codes_of(text.encode(errors="replace"))]

    def decode(self, ids: np.ndarray) -> str:
        return "".join([self.tokens[i] for i in np.asarray(ids).tolist() if i not in (START, STOP)])

    def token(self, id: int) -> str:
        return self.tokens[id]

    def stream(self, stretches: Iterator[Stretch], corpus: Corpus, options: TextOptions) -> Iterator[np.ndarray]:
        for stretch in stretches:
            yield self.table[codes_of(stretch.data)]

    def byte_lengths(self) -> None:
        return None

    def to_json(self) -> str:
        vocabulary = {token: id for id, token in enumerate(self.tokens)}
        model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"}
        split = {"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False}
        return layout(model, dict(zip(self.tokens[:3], range(3), strict=True)), split, {"type": "Fuse"})


def code_counts(corpus: Corpus, options: TextOptions) -> np.ndarray:
    """(code points,) how often each is in the text."""
    counts = np.zeros(CODES, np.int64)
    for stretch in stretches(corpus, unit_of(options, keeps_space=True), options):
        found = np.bincount(codes_of(stretch.data))
        counts[: len(found)] += found
    counts[END_CODE] = 0
    return counts


def codes_of(data: bytes) -> np.ndarray:
    """The code points of a stretch; a unit's end is END_CODE."""
    text = data.decode(errors="surrogateescape")
    return np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), np.uint32)
