"""Loss along training: the rows of metrics.jsonl with the seconds of timings.jsonl, for curves over any of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chainrule.errors import StorageError, did_you_mean
from chainrule.training.workspace import METRICS, TIMINGS


class Curve(list[dict[str, Any]]):
    """Rows of a training; a notebook draws them."""

    def _repr_svg_(self) -> str | None:
        from chainrule.figures.losses import loss_curve

        figure = loss_curve(self)
        return figure.svg() if figure else None


def curve(run: str | Path) -> Curve:
    """Each row has `step`, `tokens`, `flops` and `seconds`, and `loss` or `valid_loss`; [] where nothing was stepped.

    The n-th rows of the two files belong together: metrics.jsonl has no times, so that a resumed training writes the
    same bytes as an uninterrupted run.
    """
    if not (folder := Path(run)).is_dir():
        near = did_you_mean(str(folder), [str(each.parent) for each in folder.parent.glob(f"*/{METRICS}")])
        raise StorageError(f"{folder}: {'a file, expected a' if folder.exists() else 'no such'} run folder.{near}")
    metrics, timings = (_rows(folder / name) for name in (METRICS, TIMINGS))
    if not timings:
        return Curve(metrics)
    return Curve({**times, **facts} for facts, times in zip(metrics, timings, strict=True))


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
