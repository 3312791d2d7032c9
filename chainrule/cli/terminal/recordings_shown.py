"""What `chainrule inspect` does with models that hear: what was said when, as a figure, a page or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.asked import Asked
from chainrule.cli.terminal.console import emit, say, table
from chainrule.cli.terminal.stepping import shown_steps
from chainrule.errors import UsageError

NOTHING = "there is nothing to look at. Give a recording, as in chainrule inspect RUN call.wav."
TAKES, OF = ("--top",), "a model of recordings"


def look(asked: Asked) -> None:
    """What `inspect` shows of a run with this view."""
    show_recordings(asked.run, asked.things, asked.overrides, top=asked.top or 5, out=asked.out, json=asked.json)



def show_recordings(run: str, files: Sequence[str], overrides: Sequence[str], *, top: int, out: Path | None, json: bool
                    ) -> None:
    """Files, folders of them, or tables that name them."""
    from chainrule.figures.files import check_figure
    from chainrule.inspection.recordings import explain_recordings
    from chainrule.runs import load

    if not files:
        raise UsageError(NOTHING)
    if out is not None:
        check_figure(out, (".html",))
    with shown_steps("reading"):
        found: dict[str, Any] = explain_recordings(load(run).reading_text_as(overrides), files, top=top) | {"run": run}
    if out is not None:
        _write(found, out)
        say(f"wrote {out}.")
    emit(found, json, _show)


def _write(found: dict[str, Any], out: Path) -> None:
    from chainrule.figures.card_files import write_card
    from chainrule.inspection.recording_pictures import recording_figure

    write_card(out, f"What {found['run']} heard", [recording_figure(each) for each in found["recordings"]])


def _show(found: dict[str, Any]) -> None:
    for number, each in enumerate(found["recordings"]):
        print(end="\n" if number else "")
        if "text" in each:
            print(f"{each['file']}: {each['text']}")
            rows = [(own["token"].replace(" ", "␣"), f"{own['begin']:.2f}", f"{own['end']:.2f}",
                     f"{own[each['shows']]:.4f}") for own in each["tokens"]]
            table(["token", "from", "to", each["shows"]], rows)
            continue
        labels = ", ".join(f"{own['label']} {own['probability']:.4f}" for own in each["labels"])
        print(f"{each['file']}: {labels}")
        moments = _some(len(each["moments"]))
        table(["seconds", *(own["label"] for own in each["over_time"])],
              [(f"{each['moments'][n]:.2f}", *(f"{own['probability'][n]:.4f}" for own in each["over_time"]))
               for n in moments])


def _some(count: int, most: int = 10) -> list[int]:
    """So many numbers below `count`, evenly spread, the last among them."""
    return sorted({round((n + 1) * count / min(count, most)) - 1 for n in range(min(count, most))})
