"""Transcripts beside what was really said: word and character error rates, their intervals, and the worst ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule.evaluation.edits import Edits, edits
from chainrule.evaluation.measures.character_error_rate import CharacterErrorRate
from chainrule.evaluation.measures.word_error_rate import WordErrorRate
from chainrule.evaluation.options import Measuring
from chainrule.evaluation.ranking import DRAWS, Entry, intervals
from chainrule.inputs.labeled import Example

WORST = 10  # transcripts that are kept


def word_edits(example: Example, said: str) -> Edits:
    return edits(example.labels[0].split(), said.split())


def character_edits(example: Example, said: str) -> Edits:
    """With one space between words."""
    return edits(" ".join(example.labels[0].split()), said)


def error_table(found: Sequence[Edits]) -> np.ndarray:
    """(recordings, 2): errors, and items of the reference."""
    return np.array([(each.errors, each.items) for each in found], np.float64)


def transcript_figures(examples: Sequence[Example], said: Sequence[str], how: Measuring) -> dict[str, Any]:
    """What `chainrule evaluate` prints."""
    words = [word_edits(each, text) for each, text in zip(examples, said, strict=True)]
    letters = [character_edits(each, text) for each, text in zip(examples, said, strict=True)]
    found: dict[str, Any] = {"recordings": len(examples), "words": sum(each.items for each in words)}
    interval: dict[str, Any] = {}
    for name, measure, table in (("wer", WordErrorRate(), error_table(words)),
                                 ("cer", CharacterErrorRate(), error_table(letters))):
        found[name] = measure.value(table)
        if how.bootstrap:
            [interval[name]] = intervals([Entry(name, (table,))], measure, draws=min(how.bootstrap, DRAWS),
                                         seed=how.seed)
    right = sum(not each.errors for each in words)
    found |= {"without_errors": right / len(words), **{name: sum(getattr(each, name) for each in words) for name in (
        "substitutions", "deletions", "insertions")}}
    return found | {"interval": {name: each for name, each in interval.items() if each is not None},
                    "most_wrong": _worst(examples, said, words)}


def _worst(examples: Sequence[Example], said: Sequence[str], words: Sequence[Edits]) -> list[dict[str, Any]]:
    order = sorted((n for n, each in enumerate(words) if each.errors), key=lambda n: -words[n].errors)[:WORST]
    return [{"source": examples[n].source, "line": examples[n].line, "errors": words[n].errors,
             "text": examples[n].labels[0], "heard": said[n]} for n in order]
