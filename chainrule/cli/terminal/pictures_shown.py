"""What `chainrule inspect` does with a classifier of pictures: which pixels decided, as a page, a figure or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.asked import Asked
from chainrule.cli.terminal.console import emit, say, table
from chainrule.cli.terminal.decisions_shown import show_confusions
from chainrule.cli.terminal.stepping import shown_steps
from chainrule.errors import UsageError

NOTHING = ("there is nothing to look at. Give a file, as in chainrule inspect RUN image.png, or labeled ones with "
           "--data FOLDER.")
SQUARES = 5  # printed; --json and the figure have all
TAKES, OF = ("--text", "--top"), "a model of images"


def look(asked: Asked) -> None:
    """What `inspect` shows of a run with this view."""
    show_pictures(asked.run, asked.things, asked.overrides, data=asked.text, top=asked.top or 5, out=asked.out,
                  json=asked.json)



def show_pictures(run: str, files: Sequence[str], overrides: Sequence[str], *, data: str | None, top: int,
                  out: Path | None, json: bool) -> None:
    """Files given as arguments, labeled ones, or both."""
    from chainrule.figures.files import check_figure
    from chainrule.inspection.confusions import confusions
    from chainrule.inspection.picture_decisions import explain_pictures
    from chainrule.runs import load

    if not files and data is None:
        raise UsageError(NOTHING)
    if out is not None:
        check_figure(out, (".html",))
    with shown_steps("reading"):
        loaded = load(run).reading_text_as(overrides)
        found: dict[str, Any] = explain_pictures(loaded, files, top=top) | {"run": run}
        if data is not None:
            found["labeled"] = confusions(loaded, data)
    if out is not None:
        _write(found, out)
        say(f"wrote {out}.")
    emit(found, json, _show)


def _write(found: dict[str, Any], out: Path) -> None:
    from chainrule.figures.card_files import write_card
    from chainrule.figures.cards import facts
    from chainrule.inspection.decision_pictures import decision_figure

    tables = [facts({own["label"]: own["probability"] for own in each["labels"]}) for each in found["pictures"]]
    write_card(out, f"Why {found['run']} says so", [decision_figure(each) for each in found["pictures"]], tables)


def _show(found: dict[str, Any]) -> None:
    for number, each in enumerate(found["pictures"]):
        print(end="\n" if number else "")
        labels = ", ".join(f"{own['label']} {own['probability']:.4f}" for own in each["labels"])
        print(f"{each['file']}: {labels}")
        if each["runner_up"] is not None:
            _show_squares(each)
    if "labeled" in found:
        print(end="\n" if found["pictures"] else "")
        show_confusions(found["labeled"])


def _show_squares(each: dict[str, Any]) -> None:
    """Where covering the picture costs the label most, rather than its runner-up."""
    rows = [(lost, y, x) for y, row in enumerate(each["covered"]) for x, lost in enumerate(row)]
    side = -(-max(each["height"], each["width"]) // max(len(each["covered"]), len(each["covered"][0])))
    print(f"\n{each['label']} rather than {each['runner_up']}: {each['margin']:+.3f}; what covering a square changes:")
    table(["rows", "columns", "lost"], [(f"{y * side}–{min((y + 1) * side, each['height']) - 1}",
                                         f"{x * side}–{min((x + 1) * side, each['width']) - 1}", f"{lost:+.3f}")
                                        for lost, y, x in sorted(rows, key=lambda row: -abs(row[0]))[:SQUARES]])
