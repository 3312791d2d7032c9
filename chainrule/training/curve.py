"""Loss along training: the rows of metrics.jsonl with the seconds of timings.jsonl, for curves over any of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.errors import StorageError, did_you_mean
from chainrule.storage.json_files import read_rows
from chainrule.storage.manifest import HINT
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
    metrics, timings = (read_rows(folder / name) if (folder / name).exists() else [] for name in (METRICS, TIMINGS))
    if timings and len(timings) != len(metrics):
        raise StorageError(f"{folder / TIMINGS}: {len(timings):,} rows, expected {len(metrics):,} as {METRICS} has. "
                           f"{HINT}")
    if not timings:
        return Curve(metrics)
    return Curve({**times, **facts} for facts, times in zip(metrics, timings, strict=True))
