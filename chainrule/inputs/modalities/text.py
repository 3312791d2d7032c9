"""Texts as the tokens of the recipe's tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.inputs.arrays import padded
from chainrule.inputs.modalities._modality import Facts, Modality
from chainrule.inputs.texts import Texts, ids_of
from chainrule.recipe.registry import build, part
from chainrule.task_protocols import Small

if TYPE_CHECKING:
    from chainrule.jobs import Job


@part
class Text(Modality):
    """Texts as the tokens of the recipe's tokenizer, between <s> and </s>.

    Of a text that is too long the first and the last tokens are read, half of them each: Sun et al. 2019,
    arXiv:1905.05583, §5.3.1, found the ends of a text to say most about it.
    """

    called, plural = "text", "texts"

    def small(self, folder: Path) -> Small:
        lines = ["__label__x a cat sat", "__label__y the dog ran away", "__label__x cats"]
        (folder / "labeled.txt").write_text("\n".join(lines * 4) + "\n", encoding="utf-8")
        return Small(folder / "labeled.txt", recipe={"model": {"head": "untied", "pooling": "mean"}})

    def learn(self, values: Sequence[bytes], job: Job) -> tuple[Any, dict[str, Any]]:
        """A run that training starts from has its tokenizer."""
        if job.start is not None:
            return job.start.tokenizer, {}
        trainer = build("text/tokenizers", job.recipe.tokenizer)
        return trainer.train(Texts(values, job.corpus.name), job.recipe.text), {}

    def sizes(self, vocabulary: int, facts: Facts) -> tuple[int, tuple[int, ...]]:
        return vocabulary, ()

    def encode(self, values: Sequence[bytes], tokenizer: Any, facts: Facts, most: int) -> list[np.ndarray]:
        start, end = (np.array([each], np.int32) for each in (tokenizer.start, tokenizer.end))
        return [np.concatenate([start, shortened(ids, max(1, most - 2)), end]) for ids in ids_of(values, tokenizer)]

    def names(self, array: np.ndarray, tokenizer: Any) -> list[str]:
        from chainrule.text.tokenizer import as_words

        return as_words(tokenizer, array.tolist())

    def batch(self, arrays: Sequence[np.ndarray], facts: Facts, draw: np.random.Generator | None
              ) -> tuple[np.ndarray, np.ndarray]:
        return padded(arrays), np.array([len(each) for each in arrays])


def shortened(ids: np.ndarray, most: int) -> np.ndarray:
    """At most so many: the first half of them from the beginning, the others from the end."""
    if len(ids) <= most:
        return ids
    first = -(-most // 2)
    return np.concatenate([ids[:first], ids[len(ids) - (most - first):]])
