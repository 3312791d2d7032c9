"""Characters, and bytes for the rare ones: as short as characters, and nothing is lost."""

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
from chainrule.text.tokenizers._layout import START_STOP, layout
from chainrule.text.tokenizers._ranking import check, ranked
from chainrule.text.tokenizers.characters import CODES, END_CODE, code_counts, codes_of
from chainrule.text.units import Stretch

START, STOP, BYTE = 0, 1, 2  # the id of a byte is BYTE + its value
FIRST = BYTE + 256  # the most frequent character
NONE = -1
LARGEST = np.array([0x80, 0x800, 0x10000])  # code points from here on take one byte of UTF-8 more
BYTES = tuple(f"<0x{value:02X}>" for value in range(256))  # as the `tokenizers` library spells them


@part
@dataclass(frozen=True, kw_only=True)
class CharactersAndBytes:
    """Every code point seen `min_count` times is a token; all others are read as the bytes of their UTF-8.

    Characters that are seen once become bytes in the training text too, so that a model learns what bytes look like.
    Byte fallback as in SentencePiece (Kudo & Richardson 2018, arXiv:1808.06226).
    """

    min_count: int = 2
    size: int | None = None
    keeps_space = True

    def __post_init__(self) -> None:
        check("characters_and_bytes", specials=FIRST, min_count=self.min_count, size=self.size)

    def train(self, corpus: Corpus, options: TextOptions) -> CharacterByteTokenizer:
        counts = code_counts(corpus, options)
        seen = np.flatnonzero(counts)
        room = None if self.size is None else self.size - FIRST
        best = seen[ranked(counts[seen], np.arange(len(seen)), self.min_count, room)]
        return CharacterByteTokenizer([*map(chr, best.tolist())])

    @staticmethod
    def load(layout: Mapping[str, Any]) -> CharacterByteTokenizer:
        vocabulary = layout["model"]["vocab"]
        return CharacterByteTokenizer(sorted(vocabulary, key=vocabulary.__getitem__)[FIRST:])


class CharacterByteTokenizer(TrainedTokenizer):
    """Two marks, 256 bytes, then the characters."""

    name, unknown, start, end = "characters_and_bytes", None, START, STOP
    lossless, keeps_space = True, True

    def __init__(self, characters: Sequence[str]):
        self.tokens = [*START_STOP, *BYTES, *characters]
        self.vocabulary_size = len(self.tokens)

    @cached_property
    def table(self) -> np.ndarray:
        """(code points,) the id of each, or NONE where it is read as bytes."""
        table = np.full(CODES, NONE, np.int32)
        table[[ord(character) for character in self.tokens[FIRST:]]] = np.arange(FIRST, self.vocabulary_size)
        table[END_CODE] = STOP
        return table

    @cached_property
    def pieces(self) -> list[bytes]:
        """The bytes that each id stands for."""
        return [b"", b"", *(bytes([value]) for value in range(256)), *(each.encode() for each in self.tokens[FIRST:])]

    def encode(self, text: str) -> np.ndarray:
        return self._ids(text.encode(errors="replace"))

    def decode(self, ids: np.ndarray) -> str:
        return b"".join([self.pieces[i] for i in np.asarray(ids).tolist()]).decode(errors="replace")

    def token(self, id: int) -> str:
        return self.tokens[id]

    def stream(self, stretches: Iterator[Stretch], corpus: Corpus, options: TextOptions) -> Iterator[np.ndarray]:
        for stretch in stretches:
            yield self._ids(stretch.data)

    def byte_lengths(self) -> np.ndarray:
        return np.array([len(piece) for piece in self.pieces], np.int32)

    def to_json(self) -> str:
        model: dict[str, Any] = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                 "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": True, "ignore_merges": False,
                 "vocab": {token: id for id, token in enumerate(self.tokens)}, "merges": []}
        split = {"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False}
        decoder = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
        return layout(model, dict(zip(START_STOP, (START, STOP), strict=True)), split, decoder)

    def _ids(self, data: bytes) -> np.ndarray:
        """One id for each code point in the vocabulary, and one for each byte of the others."""
        codes = codes_of(data)
        ids = self.table[codes]
        rare = ids == NONE
        if not rare.any():
            return ids
        lengths = np.where(rare, 1 + np.searchsorted(LARGEST, codes, side="right"), 1)
        from_bytes = np.repeat(rare, lengths)
        found = np.empty(len(from_bytes), np.int32)
        found[~from_bytes] = ids[~rare]
        text = codes[rare].tobytes().decode("utf-32-le")
        found[from_bytes] = BYTE + np.frombuffer(text.encode(), np.uint8).astype(np.int32)
        return found
