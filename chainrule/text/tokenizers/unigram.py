"""The unigram tokenizer: the most probable cut of each word."""

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

DECIMALS = 5  # threads add up in any order: further digits differ from run to run
RARE = 257 * 0.0001  # the library gives unseen bytes the lowest score, and 0.0001 more to each next one, in any order


@part
@dataclass(frozen=True, kw_only=True)
class Unigram:
    """Cuts a word into the pieces with the largest Π p(piece); pieces are dropped until `size` are left; lossless.

    Kudo 2018, arXiv:1804.10959, §3.2; on bytes, all 256 of which stay.
    """

    size: int = 8192
    keeps_space = True

    def __post_init__(self) -> None:
        check("unigram", specials=ALWAYS, min_count=1, size=self.size, most=MOST)

    def train(self, corpus: Corpus, options: TextOptions) -> PieceTokenizer:
        from tokenizers import models, trainers

        library = untrained(models.Unigram())
        trainer = trainers.UnigramTrainer(vocab_size=self.size, special_tokens=[*START_STOP], show_progress=False,
                                          initial_alphabet=byte_spellings())
        trained(library, trainer, texts(corpus, options))
        return self.load(_in_order(json.loads(library.to_str())))

    @staticmethod
    def load(layout: Mapping[str, Any]) -> PieceTokenizer:
        return PieceTokenizer("unigram", json.dumps(layout, ensure_ascii=False))


def _in_order(layout: dict[str, Any]) -> dict[str, Any]:
    """The marks first, then by descending probability, ties by spelling; the same in every run."""
    marks, pieces = layout["model"]["vocab"][:2], layout["model"]["vocab"][2:]
    lowest = min(score for _, score in pieces)
    scores = {piece: lowest if len(piece) == 1 and score < lowest + RARE else score for piece, score in pieces}
    rounded = [[piece, round(score, DECIMALS)] for piece, score in scores.items()]
    layout["model"]["vocab"] = marks + sorted(rounded, key=lambda entry: (-entry[1], entry[0]))
    return layout
