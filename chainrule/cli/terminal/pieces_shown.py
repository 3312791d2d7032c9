"""What `chainrule inspect` does with models of music: the nats of each time step, as a figure, a page or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.asked import Asked
from chainrule.cli.terminal.console import emit, say, table
from chainrule.cli.terminal.stepping import shown_steps
from chainrule.errors import UsageError

NOTHING = "there is nothing to look at. Give a piece, as in chainrule inspect RUN song.mid, or chorales.json:test#3."
WORST = 5  # steps that are printed; --json and the figure have all
TAKES, OF = ("--text",), "a model of music"


def look(asked: Asked) -> None:
    """What `inspect` shows of a run with this view."""
    pieces = [*asked.things, *([asked.text] if asked.text is not None else [])]
    show_pieces(asked.run, pieces, asked.overrides, out=asked.out, json=asked.json)



def show_pieces(run: str, data: Sequence[str], overrides: Sequence[str], *, out: Path | None, json: bool) -> None:
    """Files, or pieces of JSON by their number."""
    from chainrule.figures.files import check_figure
    from chainrule.inspection.pieces import explain_pieces
    from chainrule.runs import load

    if not data:
        raise UsageError(NOTHING)
    if out is not None:
        check_figure(out, (".html",))
    with shown_steps("reading"):
        found: dict[str, Any] = explain_pieces(load(run).reading_text_as(overrides), data) | {"run": run}
    if out is not None:
        _write(found, out)
        say(f"wrote {out}.")
    emit(found, json, _show)


def _write(found: dict[str, Any], out: Path) -> None:
    from chainrule.figures.card_files import write_card
    from chainrule.inspection.pieces import piece_figures

    figures = [figure for each in found["pieces"] for figure in piece_figures(each, found["step"])]
    write_card(out, f"What {found['run']} expected", figures)


def _show(found: dict[str, Any]) -> None:
    from chainrule.figures.rolls import name_of

    for number, each in enumerate(found["pieces"]):
        print(end="\n" if number else "")
        print(f"{each['piece']}: {each['frame_nll']:.4f} nats per step; the most surprising:")
        worst = sorted(range(each["steps"]), key=lambda step: -each["nats"][step])[:WORST]
        table(["step", "nats", "what sounds"], [
            (str(step), f"{each['nats'][step]:.2f}",
             " ".join(name_of(pitch) for start, pitch, end in sorted(each["notes"], key=lambda note: note[1])
                      if start <= step < end) or "nothing") for step in worst])
