"""Taggers on the same held-out sentences: what `compare` ranks them by."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.evaluation.ranking import Answers, Column
from chainrule.evaluation.tagging import PLAIN, TaggedPair, scheme_of, tags_of
from chainrule.inputs.rows import parted
from chainrule.inputs.tagged import Tagged
from chainrule.protocols import Tagger
from chainrule.recipe.registry import build

BASELINE = "most frequent tag"


@dataclass(frozen=True)
class HeldOut:
    """Sentences with their tags, none of which is learned from."""

    sentences: tuple[Tagged, ...]
    name: str

    def fingerprint(self) -> str:
        found = hashlib.sha256()
        for each in self.sentences:
            found.update(repr((each.words, each.tags)).encode())
        return found.hexdigest()


class TaggedSentences:
    """F1 of entities where tags mark them, else the accuracy of tags; the other, and unknown words, beside it."""

    units = "sentences"

    def __init__(self, task: Any, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, fraction: float,
                 seed: int):
        self.task, self.seed, self.split = task, seed, fraction
        self.train: Any = task.open(list(data), recipe)
        if valid is not None:
            held, self.split = task.open(list(valid), recipe), 0.0
        else:
            self.train, held = parted(self.train, fraction, seed)
        try:
            self.held_out = HeldOut(tuple(task.sentences(held)), held.name)
        except DataError:
            if valid is not None:
                raise
            raise DataError(f"{', '.join(data)}: too few sentences to hold some out. Give more, or name the held-out "
                            "ones with --valid FILE.") from None
        self.scheme = scheme_of(sorted(self._learned[1]))
        entities = self.scheme != PLAIN
        self.measure = build("evaluation/measures", "entity_f1" if entities else "token_accuracy")
        self.beside: Mapping[str, Column] = {**({"accuracy": Column("accuracy")} if entities else {}),
                                             "unknown": Column("unknown words")}
        self.notes: Sequence[str] = [each for each in [self._of_copies()] if each]

    @cached_property
    def _learned(self) -> tuple[int, dict[str, int], dict[str, str], set[tuple[str, ...]]]:
        """Of the sentences to learn from: how many, how often each tag occurs, each word's most frequent tag, all."""
        sentences = self.task.sentences(self.train)
        counts, of_words = Counter[str](), dict[str, Counter[str]]()
        for each in sentences:
            counts.update(each.tags)
            for word, tag in zip(each.words, each.tags, strict=True):
                of_words.setdefault(word.lower(), Counter())[tag] += 1
        usual = {word: own.most_common(1)[0][0] for word, own in of_words.items()}
        return len(sentences), dict(counts.most_common()), usual, {each.words for each in sentences}

    def _of_copies(self) -> str | None:
        copies = sum(each.words in self._learned[3] for each in self.held_out.sentences)
        return (f"{copies:,} of the {len(self.held_out.sentences):,} held-out sentences are also in the training data, "
                "word for word.") if copies else None

    def for_validation(self) -> tuple[Any, Any]:
        return parted(self.train, 0.1, self.seed + 1)

    def answers(self, run: Any) -> Answers:
        model = run.offering(Tagger, "compare")
        return self._judged(tags_of(model, self.held_out.sentences, self.held_out.name))

    def baselines(self) -> dict[str, Answers]:
        """A rule that anyone could write down: each word's most frequent tag; of an unknown word that of all words."""
        usual, most = self._learned[2], next(iter(self._learned[1]))
        given = [[usual.get(word.lower(), most) for word in each.words] for each in self.held_out.sentences]
        return {BASELINE: self._judged(TaggedPair(self.held_out.sentences, given, self.scheme))}

    def _judged(self, found: TaggedPair) -> Answers:
        usual, table = self._learned[2], found.right
        unknown = [true == given for each, own in zip(found.sentences, found.given, strict=True)
                   for word, true, given in zip(each.words, each.tags, own, strict=True) if word.lower() not in usual]
        beside: dict[str, float | None] = {"unknown": float(np.mean(unknown)) if unknown else None}
        if found.entities is None:
            return Answers(table, beside)
        right, words = table.sum(axis=0)
        return Answers(found.entities.counts.astype(np.float64), {"accuracy": float(right / words), **beside})

    def facts(self) -> dict[str, Any]:
        return {"train_sentences": self._learned[0], "held_out_sentences": len(self.held_out.sentences),
                "tags": len(self._learned[1])}
