"""Tags beside the right ones: accuracy, a table by tag, entities, and the sentences with the most mistakes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.evaluation.entities import EntityScores, entity_f1
from chainrule.evaluation.options import Measuring
from chainrule.evaluation.ranking import DRAWS, Entry, intervals
from chainrule.inputs.tag_schemes import converted, detect, repaired
from chainrule.inputs.tagged import Tagged
from chainrule.recipe.registry import build

PLAIN = "plain"
WORST, PAIRS = 10, 10  # sentences and pairs of tags that are kept
log = logging.getLogger("chainrule")


def scheme_of(tags: Sequence[str]) -> str:
    """`plain`, `bio` or `bioes`: how the tags of a model, each by itself, mark entities."""
    found = detect([[tag] for tag in tags])
    return "bio" if found == "iob1" else found


def in_scheme(sentences: Sequence[Tagged], scheme: str | None = None, *, name: str) -> list[Tagged]:
    """Sentences whose tags keep the rules of a scheme; None: of their own, BIO where that is IOB1.

    Invalid sequences are repaired and sentences in another scheme converted; a line says so.
    """
    own = detect([each.tags for each in sentences])
    wanted = scheme or ("bio" if own == "iob1" else own)
    if own == PLAIN or wanted == PLAIN:
        return list(sentences)
    found, changed, first = [], 0, None
    for each in sentences:
        tags, count = repaired(each.tags, own)
        found.append(replace(each, tags=tuple(tags if own == wanted else converted(tags, own, wanted))))
        first = each if count and first is None else first
        changed += count
    if first is not None:
        log.warning(f"{name}: {changed:,} tags break the rules of {own.upper()} and were repaired, the first in the "
                    f"sentence of {first.source}, line {first.line:,}: O I-X is read as O B-X.")
    if own != wanted:
        log.info(f"{name}: tags are {own.upper()}, and are read as {wanted.upper()}.")
    return found


@dataclass(frozen=True)
class TaggedPair:
    """Sentences with their right tags, and those that a model gave; entities are read by a scheme."""

    sentences: Sequence[Tagged]
    given: Sequence[Sequence[str]]
    scheme: str

    @property
    def right(self) -> np.ndarray:
        """(sentences, 2): words with the right tag, and words."""
        return np.array([(sum(map(str.__eq__, each.tags, own)), len(own))
                         for each, own in zip(self.sentences, self.given, strict=True)], np.float64).reshape(-1, 2)

    @cached_property
    def entities(self) -> EntityScores | None:
        """None where tags mark no entities."""
        if self.scheme == PLAIN:
            return None
        return entity_f1([each.tags for each in self.sentences], self.given, self.scheme)

    @cached_property
    def confused(self) -> Counter[tuple[str, str]]:
        """How often each right tag was given as each other."""
        return Counter(pair for each, own in zip(self.sentences, self.given, strict=True)
                       for pair in zip(each.tags, own, strict=True))


def tags_of(model: Any, sentences: Sequence[Tagged], name: str) -> TaggedPair:
    """What a tagger gives; sequences that break the rules of its scheme are repaired, and a line says how many."""
    scheme, given = scheme_of(model.tags), model.tag([each.words for each in sentences])
    sound = [repaired(own, scheme) for own in given]
    if changed := sum(count for _, count in sound):
        log.info(f"{changed:,} tags that the model gave break the rules of {scheme.upper()} and were repaired: O I-X "
                 "is read as O B-X.")
    return TaggedPair(in_scheme(sentences, None if scheme == PLAIN else scheme, name=name), [own for own, _ in sound],
                      scheme)


def tag_figures(found: TaggedPair, tags: Sequence[str], knows: Callable[[str], bool] | None, how: Measuring
                ) -> dict[str, Any]:
    """What `chainrule evaluate` prints."""
    table, entities = found.right, found.entities
    figures: dict[str, Any] = {"sentences": len(table), "words": int(table[:, 1].sum()), **_unseen(found, tags)}
    measures = [("accuracy", "token_accuracy", table)]
    if entities is not None:
        measures.insert(0, ("f1", "entity_f1", entities.counts.astype(np.float64)))
    interval: dict[str, Any] = {}
    for name, measure, own in measures:
        by = build("evaluation/measures", measure)
        figures[name] = by.value(own)
        if how.bootstrap:
            [interval[name]] = intervals([Entry(name, (own,))], by, draws=min(how.bootstrap, DRAWS), seed=how.seed)
        if name == "f1" and entities is not None:
            figures |= {"precision": entities.precision, "recall": entities.recall}
    figures["sentences_without_errors"] = float((table[:, 0] == table[:, 1]).mean())
    if knows is not None:
        figures |= _by_knowledge(found, knows)
    figures["interval"] = {name: each for name, each in interval.items() if each is not None}
    if entities is not None:
        figures["per_type"] = entities.per_type
    return figures | {"per_tag": _by_tag(found.confused), "confusions": confused_pairs(found.confused),
                      "most_wrong": worst(found)}


def _unseen(found: TaggedPair, tags: Sequence[str]) -> dict[str, Any]:
    """Words whose tag training never had: no model can give it."""
    known = set(tags)
    unseen = Counter(tag for each in found.sentences for tag in each.tags if tag not in known)
    if not unseen:
        return {}
    log.warning(f"{sum(unseen.values()):,} words have a tag that training never had, so that it is never given: "
                f"{', '.join(list(unseen)[:5])}.")
    return {"unseen_tags": sum(unseen.values())}


def _by_knowledge(found: TaggedPair, knows: Callable[[str], bool]) -> dict[str, Any]:
    """Accuracy of the words that training did not have; None where there are none."""
    hits = [one == other for each, own in zip(found.sentences, found.given, strict=True)
            for word, one, other in zip(each.words, each.tags, own, strict=True) if not knows(word)]
    return {"unknown_words": len(hits), "accuracy_of_unknown_words": sum(hits) / len(hits) if hits else None}


def _by_tag(confused: Counter[tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """The most frequent first; None where nothing defines a number."""
    true, given, hits = Counter[str](), Counter[str](), Counter[str]()
    for (right, own), count in confused.items():
        true[right] += count
        given[own] += count
        hits[right] += count if right == own else 0
    return {tag: {"precision": hits[tag] / given[tag] if given[tag] else None,
                  "recall": hits[tag] / true[tag] if true[tag] else None,
                  "f1": 2 * hits[tag] / (true[tag] + given[tag]), "support": true[tag]}
            for tag in sorted(true | given, key=lambda tag: (-true[tag], tag))}


def confused_pairs(confused: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    """The tags that were confused most often."""
    return [{"true": true, "given": given, "count": count} for (true, given), count in confused.most_common()
            if true != given][:PAIRS]


def worst(found: TaggedPair, most: int = WORST) -> list[dict[str, Any]]:
    """The sentences with the most mistakes, each with its words that got a wrong tag."""
    wrong = found.right[:, 1] - found.right[:, 0]
    order = [int(n) for n in np.argsort(-wrong, kind="stable")[:most] if wrong[n]]
    return [{"source": found.sentences[n].source, "line": found.sentences[n].line, "errors": int(wrong[n]),
             "text": " ".join(found.sentences[n].words),
             "mistakes": [f"{word} {given} for {true}" for word, true, given in zip(
                 found.sentences[n].words, found.sentences[n].tags, found.given[n], strict=True) if true != given]}
            for n in order]
