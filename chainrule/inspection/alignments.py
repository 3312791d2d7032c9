"""What a translator looked at: each source with its best target, and the weights between their tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chainrule.figures.drawing import Figure
from chainrule.figures.heat import grid_map
from chainrule.protocols import Translator
from chainrule.runs import LoadedRun, opened


def align(run: str | Path | LoadedRun, sources: Sequence[str], targets: Sequence[str] | None = None, *, beams: int = 5
          ) -> dict[str, Any]:
    """What `chainrule inspect TRANSLATOR TEXT --json` prints; `targets` replace what the model would write."""
    loaded = opened(run)
    model = loaded.offering(Translator, "inspect")
    written = [own[0].text if own else "" for own in model.translate(sources, beams=beams)] if targets is None else \
        list(targets)
    return {"run": str(loaded.path), "sources": [_aligned(model, source, target)
                                                  for source, target in zip(sources, written, strict=True)]}


def _aligned(model: Any, source: str, target: str) -> dict[str, Any]:
    found, log_prob = model.align(source, target), model.score([source], [target])[0]
    facts: dict[str, Any] = {"source": source, "target": target, "log_prob": log_prob, "alignment": None}
    if found is None:
        return facts
    return facts | {"alignment": {"source": found.source, "target": found.target, "weights": found.weights.tolist()}}


def alignment_pictures(found: Mapping[str, Any]) -> dict[str, Figure]:
    """A map for each source: rows are tokens of the target, columns those of the source."""
    pictures = {}
    for number, each in enumerate(found["sources"], start=1):
        if (aligned := each["alignment"]) is not None:
            pictures[f"alignment-{number}"] = grid_map(each["target"], aligned["weights"], aligned["target"],
                                                       aligned["source"])
    return pictures
