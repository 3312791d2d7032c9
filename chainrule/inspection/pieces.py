"""Looking into models of music: how surprising each time step of a piece was, and where attention looked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.figures.drawing import Figure
from chainrule.figures.heat import small_maps
from chainrule.figures.rolls import surprise_figure
from chainrule.inputs.music import STEPS
from chainrule.inspection.attention import maps, shortened
from chainrule.runs import LoadedRun, opened, task_of
from chainrule.watching import watch

DIGITS = 4
MOST = 40_000  # attention weights of all maps in a figure


def explain_pieces(run: str | Path | LoadedRun, data: Sequence[str]) -> dict[str, Any]:
    """What `chainrule inspect RUN PIECE --json` prints: for each piece its notes, and −ln p of every time step."""
    loaded = opened(run)
    task = task_of(loaded)
    pieces = task.open(list(data), loaded.recipe).pieces
    return {"run": str(loaded.path), "family": loaded.recipe.family, "step": task.step,
            "pieces": [_explained(task, loaded, piece) for piece in pieces]}


def _explained(task: Any, run: LoadedRun, piece: Any) -> dict[str, Any]:
    with watch() as seen:
        [nats] = task.by_frame(run, [piece])
    chances = task.probabilities(run, piece)
    return {"piece": piece.source, "steps": piece.steps, "frame_nll": round(float(nats.mean()), DIGITS),
            "notes": [list(note) for note in piece.notes], "nats": _rounded(nats),
            "probabilities": None if chances is None else _rounded(chances),
            "attention": [{"layer": each.layer, "weights": _rounded(each.weights)}
                          for each in shortened(maps(seen), MOST)]}


def piece_figures(each: dict[str, Any], step: str) -> list[Figure]:
    """The roll with the nats of its steps, and a small map for each head of attention."""
    chances = each["probabilities"]
    found = [surprise_figure(f"{each['piece']}: {each['frame_nll']:.2f} nats per step", each["notes"], each["nats"],
                             STEPS[step], None if chances is None else np.array(chances))]
    if each["attention"]:
        rows = {f"layer {own['layer']}": {f"head {n + 1}": (weights, max(map(max, weights)))
                                          for n, weights in enumerate(own["weights"])} for own in each["attention"]}
        found.append(small_maps("Where each step looked: rows look at columns", rows))
    return found


def _rounded(values: np.ndarray) -> Any:
    return np.round(np.asarray(values, np.float64), DIGITS).tolist()
