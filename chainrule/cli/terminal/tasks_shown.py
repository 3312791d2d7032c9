"""What `chainrule inspect --tasks` does: how alike labeled data sets are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.console import emit, say, table
from chainrule.cli.terminal.stepping import shown_steps


def show_tasks(data: Sequence[str], overrides: Sequence[str], *, probe: str | None, out: Path | None, json: bool
               ) -> None:
    """The distances of all pairs; --out draws them."""
    from chainrule.figures.drawing import stacked
    from chainrule.figures.files import check_figure, write_figure
    from chainrule.inspection.task_map import task_map, task_pictures

    if out is not None:
        check_figure(out)
    with shown_steps("reading"):
        found = task_map(data, probe, overrides=overrides)
    if out is not None:
        write_figure(out, stacked(task_pictures(found), "How alike tasks are"))
        say(f"wrote {out}.")
    emit(found, json, _show)


def _show(found: dict[str, Any]) -> None:
    names = [str(n + 1) for n in range(len(found["tasks"]))]
    table(["", "task", "texts", "labels", *names],
          [(name, task, texts, labels, *(f"{value:.4f}" for value in row)) for name, task, texts, labels, row in
           zip(names, found["tasks"], found["texts"], found["labels"], found["distances"], strict=True)])
    print(f"\nDistances by Task2Vec; the probe is {found['probe']}. Tasks at a small distance would change the same "
          "weights of it.")
