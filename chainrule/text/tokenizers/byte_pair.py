"""Byte pair encoding: frequent pairs become one token, again and again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chainrule.recipe.registry import part
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.tokenizers._layout import START_STOP, byte_spellings
from chainrule.text.tokenizers._pieces import ALWAYS, MOST, PieceTokenizer, texts, trained, untrained
from chainrule.text.tokenizers._ranking import check


@part
@dataclass(frozen=True, kw_only=True)
class BytePair:
    """Starts from 256 bytes and joins the most frequent pair inside words until `size` tokens exist; lossless.

    Sennrich, Haddow & Birch 2016, arXiv:1508.07909; on bytes as in Radford et al. 2019.
    """

    size: int = 8192
    min_count: int = 2
    keeps_space = True

    def __post_init__(self) -> None:
        check("byte_pair", specials=ALWAYS, min_count=self.min_count, size=self.size, most=MOST)

    def train(self, corpus: Corpus, options: TextOptions) -> PieceTokenizer:
        from tokenizers import models, trainers

        library = untrained(models.BPE())
        trainer = trainers.BpeTrainer(vocab_size=self.size, min_frequency=self.min_count, show_progress=False,
                                      special_tokens=[*START_STOP], initial_alphabet=byte_spellings())
        trained(library, trainer, texts(corpus, options))
        return self.load(json.loads(library.to_str()))

    @staticmethod
    def load(layout: Mapping[str, Any]) -> PieceTokenizer:
        return PieceTokenizer("byte_pair", json.dumps(layout, ensure_ascii=False))
