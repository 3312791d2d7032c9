"""Why a classifier gave a text its label: probabilities, each word left out, and what each feature adds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.protocols import Classifier, ExplainsLabels
from chainrule.runs import LoadedRun, opened

MOST_WORDS = 2_000  # of a text that are left out one by one


def explain(run: str | Path | LoadedRun, texts: Sequence[str], *, top: int = 5) -> dict[str, Any]:
    """What `chainrule inspect CLASSIFIER TEXT --json` prints: for each text its labels, and what decided."""
    loaded = opened(run)
    model = loaded.offering(Classifier, "inspect")
    return {"run": str(loaded.path), "family": loaded.recipe.family, "labels": len(model.labels),
            "texts": [decision(model, text, top=top) for text in texts]}


def decision(model: Classifier, text: str, *, top: int = 5) -> dict[str, Any]:
    """One text: `top` labels, and for each word what its absence and its features change.

    `without`: ln p(label | text) − ln p(label | text without the word), above 0 where the word speaks for the label.
    `adds`: what the word's features add to ln p(label) − ln p(runner-up); an n-gram's share is split among its words.
    """
    words = text.split()
    if not words:
        raise DataError("the text has no words, expected some to look at.")
    logs = model.log_probabilities([" ".join(words)])[0].astype(np.float64)
    best = np.argsort(-logs, kind="stable")
    label, other = model.labels[best[0]], model.labels[best[1]] if len(best) > 1 else None
    found: dict[str, Any] = {
        "text": " ".join(words), "label": label, "runner_up": other,
        "labels": [{"label": model.labels[n], "probability": float(np.exp(logs[n])), "log_probability": float(logs[n])}
                   for n in best[:top]],
        "margin": float(logs[best[0]] - logs[best[1]]) if other is not None else None}
    shown = words[:MOST_WORDS]
    without = _left_out(model, words, len(shown), int(best[0]))
    tokens: list[dict[str, Any]] = [{"text": word, "without": None if lost is None else float(logs[best[0]]) - lost,
                                     "adds": None} for word, lost in zip(shown, without, strict=True)]
    evidence = (model.evidence(" ".join(words).encode(errors="replace"), label, other)
                if other is not None and isinstance(model, ExplainsLabels) else None)
    features, end = (None, None) if evidence is None else _put_evidence(tokens, evidence, len(words))
    how = getattr(model, "evidence_is", None) if evidence is not None else None
    return found | {"tokens": tokens, "end": end, "cut": len(words) > len(shown), "features": features, "evidence": how}


def _left_out(model: Classifier, words: Sequence[str], count: int, label: int) -> list[float | None]:
    """ln p(label) of the text without each of its first words; a text of one word has nothing left."""
    if len(words) == 1:
        return [None]
    rest = [" ".join([*words[:n], *words[n + 1:]]) for n in range(count)]
    return model.log_probabilities(rest)[:, label].astype(float).tolist()


def _put_evidence(tokens: list[dict[str, Any]], evidence: Sequence[tuple[Any, float]], words: int
                  ) -> tuple[list[dict[str, Any]], float]:
    """Adds each word's share to it; the features, the weightiest first, and the share of the end of the text."""
    share, times, added = np.zeros(words + 1), defaultdict[tuple[str, str], int](int), defaultdict[Any, float](float)
    for feature, value in evidence:
        for word in feature.words:
            share[word] += value / len(feature.words)
        times[feature.kind, feature.text] += 1
        added[feature.kind, feature.text] += value
    for token, value in zip(tokens, share, strict=False):
        token["adds"] = float(value)
    order = sorted(added, key=lambda key: -abs(added[key]))
    return [{"kind": kind, "text": text, "times": times[kind, text], "adds": added[kind, text]}
            for kind, text in order], float(share[-1])
