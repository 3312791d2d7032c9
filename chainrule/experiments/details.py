"""What the report's page shows in addition to the table: curves, breakdowns, the text itself, samples, recipes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.experiments.breakdowns import by_document, by_frequency, by_position
from chainrule.experiments.excerpts import title
from chainrule.experiments.losses import Losses, document_places
from chainrule.experiments.running import Setting
from chainrule.experiments.standings import Standing
from chainrule.text.corpora.corpus import Corpus


def details(standings: Sequence[Standing], setting: Setting, train: Corpus, texts: Sequence[bytes]) -> dict[str, Any]:
    """See docs/compare.md; of several seeds the first is shown."""
    models = [each for each in standings if each.row["status"] == "ok" and each.outcomes]
    losses = {each.row["name"]: each.losses[0] for each in models if each.losses}
    return {"curves": {each.row["name"]: _curve(each, setting.out) for each in models},
            "by_position": by_position(texts, losses), "by_frequency": by_frequency(train, texts, losses),
            "by_document": by_document(texts, losses),
            "text": _text([each for each in models if each.losses], setting, texts),
            "samples": _samples(models, setting.prompts), "recipes": _recipes(models, setting.out)}


def _curve(standing: Standing, out: Path) -> list[dict[str, Any]]:
    """Bits per byte of the held-out text along training; what is not trained in steps is one point."""
    from chainrule.training.curve import curve

    row = standing.row
    points = [{"seconds": point.get("seconds"), "tokens": point["tokens"], "flops": point.get("flops"),
               "bits_per_byte": point["valid_bits_per_byte"]}
              for point in curve(out / row["run"]) if point.get("valid_bits_per_byte") is not None]
    return points or [{"seconds": row["measured"]["training_seconds"], "tokens": row["tokens"], "flops": row["flops"],
                       "bits_per_byte": row["bits_per_byte"]}]


def _text(models: Sequence[Standing], setting: Setting, texts: Sequence[bytes]) -> dict[str, Any]:
    """Passages in segments: pieces of text that are one token or more of every model."""
    shown = [each for each in models if each.outcomes[0]["passages"]]
    places = document_places(texts)
    documents = []
    for number, (document, _) in enumerate(setting.passages if shown else ()):
        recorded = [each.outcomes[0]["passages"][number] for each in shown]
        cuts = _boundaries(recorded, texts[document])
        bits = [_bits(each.losses[0], int(places[document]), cuts) for each in shown]
        tops = [dict(zip(each["starts"], each["top"], strict=True)) for each in recorded]
        segments = [{"text": texts[document][a:b].decode(), "bits": [round(float(own[i]), 4) for own in bits],
                     "top": [top[a] for top in tops]}
                    for i, (a, b) in enumerate(zip(cuts[:-1], cuts[1:], strict=True))]
        documents.append({"title": title(texts[document]), "segments": segments})
    return {"models": [each.row["name"] for each in shown], "documents": documents}


def _boundaries(recorded: Sequence[dict[str, Any]], text: bytes) -> list[int]:
    """Where all models have a token's beginning, and a character begins."""
    shared = set(recorded[0]["starts"]).intersection(*(each["starts"] for each in recorded[1:]))
    return sorted(place for place in shared if place < len(text) and text[place] & 0xC0 != 0x80)


def _bits(losses: Losses, start: int, cuts: Sequence[int]) -> np.ndarray:
    return losses.between(np.array(cuts) + start)


def _samples(models: Sequence[Standing], prompts: Sequence[str]) -> list[dict[str, Any]]:
    return [{"prompt": prompt, "texts": {each.row["name"]: [each.outcomes[0]["samples"][i]] for each in models}}
            for i, prompt in enumerate(prompts)]


def _recipes(models: Sequence[Standing], out: Path) -> dict[str, str]:
    return {each.row["name"]: (out / each.row["run"] / "recipe.yaml").read_text(encoding="utf-8") for each in models}
