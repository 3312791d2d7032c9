"""Looking into taggers: how probable each tag was at each word, which tags follow which, and which are confused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.figures.drawing import Figure
from chainrule.figures.heat import grid_map, heat_map
from chainrule.inputs.word_splitting import split_words
from chainrule.runs import LoadedRun, opened, task_of
from chainrule.tagger_protocols import ChainsTags, ExplainsTags, KnowsWords, Tagger, WeighsTags
from chainrule.verbs.tag import valid_tags

DIGITS = 4
MOST = 40  # tags in a figure: those with the most mistakes


def inspect_tags(run: str | Path | LoadedRun, texts: Sequence[str | Sequence[str]] = (), *, data: Any = None,
                 top: int = 5) -> dict[str, Any]:
    """What `chainrule inspect RUN "some words" --data TAGGED --json` prints."""
    loaded = opened(run)
    model = loaded.offering(Tagger, "inspect")
    words = [split_words(each) if isinstance(each, str) else list(each) for each in texts]
    found: dict[str, Any] = {"run": str(loaded.path), "family": loaded.recipe.family, "tags": list(model.tags),
                             "sentences": _sentences(model, [own for own in words if own], top)}
    scores = model.tag_transitions() if isinstance(model, ChainsTags) else None
    if scores is not None:
        found["transitions"] = np.round(scores.astype(np.float64), DIGITS).tolist()
    if data is not None:
        found["labeled"] = _labeled(loaded, model, data)
    return found


def _sentences(model: Any, sentences: Sequence[Sequence[str]], top: int) -> list[dict[str, Any]]:
    """Each word with its tag and the likeliest ones; none where the model does not weigh them."""
    given = valid_tags(model, sentences)
    weights = model.probabilities(sentences) if isinstance(model, WeighsTags) else [None] * len(sentences)
    return [{"words": [{"word": word, "tag": tag,
                        "known": model.knows(word) if isinstance(model, KnowsWords) else None,
                        "top": [] if p is None else _top(model.tags, p[n], top),
                        **({"why": model.why(word)} if isinstance(model, ExplainsTags) else {})}
                       for n, (word, tag) in enumerate(zip(words, tags, strict=True))],
             "probabilities": None if p is None else np.round(p.astype(np.float64), DIGITS).tolist()}
            for words, tags, p in zip(sentences, given, weights, strict=True)]


def _top(tags: Sequence[str], p: np.ndarray, top: int) -> list[dict[str, Any]]:
    return [{"tag": tags[n], "probability": round(float(p[n]), DIGITS)} for n in np.argsort(-p, kind="stable")[:top]]


def _labeled(run: LoadedRun, model: Any, data: Any) -> dict[str, Any]:
    from chainrule.evaluation.tagging import confused_pairs, tags_of, worst

    task = task_of(run)
    corpus = task.open(data, run.recipe)
    found = tags_of(model, task.sentences(corpus), corpus.name)
    right, words = found.right.sum(axis=0)
    kept = _most_confused(found.confused)
    return {"data": corpus.name, "sentences": len(found.sentences), "words": int(words), "right": int(right),
            "accuracy": float(right / words), "tags": kept,
            "matrix": [[found.confused[true, given] for given in kept] for true in kept],
            "pairs": confused_pairs(found.confused), "most_wrong": worst(found)}


def _most_confused(counts: Any) -> list[str]:
    mistakes = {tag: sum(count for pair, count in counts.items() if tag in pair and pair[0] != pair[1])
                for tag in {tag for pair in counts for tag in pair}}
    return sorted(sorted(mistakes, key=lambda tag: (-mistakes[tag], tag))[:MOST])


def tag_pictures(found: dict[str, Any]) -> list[Figure]:
    """A map of words and tags for each sentence, the transitions, and what was confused with what."""
    figures = [grid_map("How probable each tag is at each word", each["probabilities"],
                        [own["word"] for own in each["words"]], found["tags"])
               for each in found["sentences"] if each["probabilities"] is not None]
    if "transitions" in found:
        most = max((abs(value) for row in found["transitions"] for value in row), default=1.0) or 1.0
        figures.append(heat_map("Scores of one tag (row) before another (column)", found["transitions"], found["tags"],
                                most=most, diverging=True))
    if "labeled" in found:
        own = found["labeled"]
        shares = [[count / max(1, sum(row)) for count in row] for row in own["matrix"]]
        figures.append(heat_map("Right tags (rows) and tags given (columns)", shares, own["tags"]))
    return figures
