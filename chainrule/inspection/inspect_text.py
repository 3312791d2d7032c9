"""Inspecting one model on one text: everything that can be shown, as one object of plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.inspection.inside import Observations, inside, models_in
from chainrule.inspection.passage import Passage, passage
from chainrule.inspection.surprisal import Expected, along
from chainrule.protocols import LanguageModel, Tokenizer
from chainrule.runs import LoadedRun, opened
from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.tokenizer import spelled
from chainrule.watching import Seen, watch


class Inspection(dict[str, Any]):
    """What `inspect` gives; a notebook shows its pictures."""

    def _repr_html_(self) -> str:
        from chainrule.figures.cards import card, line
        from chainrule.inspection.pictures import pictures

        return card(f"{self['run']} reads {self['text']}", *map(line, self["said"]), *pictures(self).values())


def inspect(run: str | Path | LoadedRun, data: str | Path | Sequence[str | Path], *, tokens: int = 256, top: int = 5,
            overrides: Sequence[str] = ()) -> Inspection:
    """What `chainrule inspect RUN --text DATA --json` prints; `overrides` change how this text is read."""
    loaded = opened(run)
    options = loaded.text_options(overrides)
    return look(loaded, open_corpus(data, options), options, tokens=tokens, top=top)


def look(run: LoadedRun, corpus: Corpus, options: TextOptions | None = None, *, tokens: int = 256, top: int = 5
         ) -> Inspection:
    """Surprisal along the first `tokens` tokens of a text, and what the model recorded while it scored them.

    `models` holds the insides: of the model itself, and of each member where it is a mixture.
    """
    model = run.offering(LanguageModel, "inspect")
    read = passage(run, corpus, options or run.recipe.text, tokens=tokens)
    units = read.units()
    steps = [list(along(model, unit, top=top)) for unit in units]
    seen = [_watched(model, unit) for unit in units]
    found = [inside(Observations(place, seen, units, read.longest, run.tokenizer))
             for place in models_in(seen[read.longest])]
    return Inspection({
        "run": str(run.path), "family": run.recipe.family, "tokenizer": run.tokenizer.name, "text": corpus.name,
        "unit": read.unit, "units": len(units), "cut": read.cut, "longest": read.longest,
        "spaced": not run.tokenizer.keeps_space, "totals": _totals(steps, read, run.tokenizer),
        "tokens": _tokens(steps, run.tokenizer), "models": found, "said": _said(read, run, found)})


def _watched(model: LanguageModel, unit: np.ndarray) -> Seen:
    """Everything recorded while a unit is scored."""
    with watch() as seen:
        model.score(unit[None])
    return seen


def _tokens(steps: Sequence[Sequence[Expected]], tokenizer: Tokenizer) -> list[dict[str, Any]]:
    return [{"unit": unit, "id": step.id, "token": tokenizer.token(step.id), "text": spelled(tokenizer, step.id),
             "unknown": step.id == tokenizer.unknown, "log_prob": step.log_prob, "surprisal": step.surprisal,
             "entropy": step.entropy, "rank": step.rank,
             "top": [{"text": spelled(tokenizer, id), "probability": p} for id, p in step.top]}
            for unit, own in enumerate(steps) for step in own]


def _totals(steps: Sequence[Sequence[Expected]], read: Passage, tokenizer: Tokenizer) -> dict[str, Any]:
    every = [step for own in steps for step in own]
    bits = sum(step.surprisal for step in every)
    return {"tokens": len(every), "unknown": int((read.ids == tokenizer.unknown).sum()),
            "impossible": sum(step.log_prob == -math.inf for step in every), "bits": bits,
            "bits_per_token": bits / len(every), "perplexity": 2 ** (bits / len(every)) if bits < math.inf else bits,
            "entropy": sum(step.entropy for step in every) / len(every)}


def _said(read: Passage, run: LoadedRun, found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences about anything missing or cut off."""
    said = []
    if read.cut:
        said.append(f"only the first {len(read.ids):,} tokens of the text were read; --tokens reads more.")
    unknown = int((read.ids == run.tokenizer.unknown).sum())
    if unknown:
        said.append(f"{unknown:,} of {len(read.ids):,} tokens are {run.tokenizer.token(run.tokenizer.unknown or 0)}: "
                    "they were not in the training text.")
    return said + [f"{each['name']}: {line}" if len(found) > 1 else line for each in found for line in each["said"]]
