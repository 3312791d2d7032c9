"""Bytes: the smallest vocabulary that loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.recipe.registry import part
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.tokenizer import TrainedTokenizer
from chainrule.text.tokenizers._layout import BYTE_LEVEL, START_STOP, byte_spellings, layout
from chainrule.text.units import END, Stretch

FIRST = 2  # the ids 0 and 1 are the marks
IDS = np.arange(FIRST, FIRST + 256, dtype=np.int32)
IDS_AND_END = np.where(np.arange(256) == END[0], 1, IDS).astype(np.int32)


@part
@dataclass(frozen=True)
class Bytes:
    """Every byte of the UTF-8 is a token: 256 and two marks."""

    keeps_space = True

    def train(self, corpus: Corpus, options: TextOptions) -> ByteTokenizer:
        return ByteTokenizer()

    @staticmethod
    def load(layout: Mapping[str, Any]) -> ByteTokenizer:
        return ByteTokenizer()


class ByteTokenizer(TrainedTokenizer):
    """id = byte + 2."""

    name, vocabulary_size = "bytes", FIRST + 256
    unknown, start, end = None, 0, 1
    lossless, keeps_space = True, True

    def encode(self, text: str) -> np.ndarray:
        return IDS[np.frombuffer(text.encode(errors="replace"), np.uint8)]

    def decode(self, ids: np.ndarray) -> str:
        ids = np.asarray(ids)
        return (ids[ids >= FIRST] - FIRST).astype(np.uint8).tobytes().decode(errors="replace")

    def token(self, id: int) -> str:
        return START_STOP[id] if id < FIRST else byte_spellings()[id - FIRST]

    def stream(self, stretches: Iterator[Stretch], corpus: Corpus, options: TextOptions) -> Iterator[np.ndarray]:
        for stretch in stretches:
            yield IDS_AND_END[np.frombuffer(stretch.data, np.uint8)]

    def byte_lengths(self) -> np.ndarray:
        return (np.arange(self.vocabulary_size) >= FIRST).astype(np.int32)

    def to_json(self) -> str:
        vocabulary = {spelling: id for id, spelling in enumerate([*START_STOP, *byte_spellings()])}
        model: dict[str, Any] = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                 "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                 "vocab": vocabulary, "merges": []}
        return layout(model, dict(zip(START_STOP, (0, 1), strict=True)), BYTE_LEVEL, BYTE_LEVEL)
