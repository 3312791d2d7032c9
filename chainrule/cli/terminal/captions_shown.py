"""What `chainrule inspect` does with a captioner: where it looked for each word, as a figure, a page or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.asked import Asked
from chainrule.cli.terminal.console import emit, say, table
from chainrule.cli.terminal.stepping import shown_steps
from chainrule.errors import UsageError

NOTHING = "there is nothing to look at. Give an image, as in chainrule inspect RUN photo.jpg."
BLIND = "This model looks at all of the image alike: there are no maps."
TAKES, OF = (), "a captioner"


def look(asked: Asked) -> None:
    """What `inspect` shows of a run with this view."""
    show_captions(asked.run, asked.things, out=asked.out, json=asked.json)



def show_captions(run: str, files: Sequence[str], *, out: Path | None, json: bool) -> None:
    """Images, folders of them, or tables that name them."""
    from chainrule.figures.files import check_figure
    from chainrule.inspection.captions import explain_captions

    if not files:
        raise UsageError(NOTHING)
    if out is not None:
        check_figure(out, (".html",))
    with shown_steps("reading"):
        found: dict[str, Any] = explain_captions(run, files) | {"run": run}
    if out is not None:
        _write(found, out)
        say(f"wrote {out}.")
    emit(found, json, _show)


def _write(found: dict[str, Any], out: Path) -> None:
    from chainrule.figures.card_files import write_card
    from chainrule.inspection.captions import caption_figure

    write_card(out, f"Where {found['run']} looked", [caption_figure(each) for each in found["pictures"]])


def _show(found: dict[str, Any]) -> None:
    for number, each in enumerate(found["pictures"]):
        print(end="\n" if number else "")
        print(f"{each['file']}: {each['caption']}\nln p = {each['log_prob']:.3f}\n")
        if each["grid"] is None:
            print(BLIND)
            continue
        rows, columns = each["grid"]
        print(f"Where it looked for each word, of {rows} × {columns} places from the upper left:")
        table(["word", "row", "column", "weight"], [(own["word"], *_most(own["weights"])) for own in each["words"]])


def _most(weights: Sequence[Sequence[float]]) -> tuple[int, int, str]:
    """The place with the largest weight, from 1."""
    weight, row, column = max((weight, -row, -column) for row, own in enumerate(weights)
                              for column, weight in enumerate(own))
    return 1 - row, 1 - column, f"{weight:.3f}"
