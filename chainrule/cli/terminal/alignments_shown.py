"""What `chainrule inspect` does with a translator: the best target of each source, and what its tokens looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.asked import Asked
from chainrule.cli.terminal.console import emit, say, table
from chainrule.errors import UsageError

NOTHING = 'there is nothing to look at. Give a source, as in chainrule inspect RUN "A man sleeps."'
SHADES = " ░▒▓█"
TAKES, OF = ("--text-is",), "a translator"


def look(asked: Asked) -> None:
    """What `inspect` shows of a run with this view."""
    show_alignments(asked.run, asked.texts, out=asked.out, json=asked.json)



def show_alignments(run: str, sources: Sequence[str], *, out: Path | None, json: bool) -> None:
    """Sources given as arguments; figures go to FILE.svg, FILE.png or FILE.html."""
    from chainrule.figures.drawing import stacked
    from chainrule.figures.files import check_figure, write_figure
    from chainrule.inspection.alignments import align, alignment_pictures

    if not sources:
        raise UsageError(NOTHING)
    if out is not None:
        check_figure(out)
    found = align(run, sources) | {"run": run}
    if out is not None:
        pictures = alignment_pictures(found)
        if not pictures:
            raise UsageError(f"{run}: this model looks at all of its source alike, so there is no alignment to draw.")
        write_figure(out, stacked(list(pictures.values()), f"What {run} looked at"))
        say(f"wrote {out}.")
    emit(found, json, _show)


def _show(found: dict[str, Any]) -> None:
    for number, each in enumerate(found["sources"]):
        print(end="\n" if number else "")
        print(f"{each['source']}\n{each['target']}\nln p = {each['log_prob']:.3f}")
        aligned = each["alignment"]
        if aligned is None:
            print("\nThis model looks at all of its source alike: there is no alignment.")
            continue
        print("\nEach token of the target, and those of the source that it looked at most:")
        table(["token", "looked at", "weights"], [_row(token, weights, aligned["source"]) for token, weights in
                                                  zip(aligned["target"], aligned["weights"], strict=True)])


def _row(token: str, weights: Sequence[float], names: Sequence[str]) -> tuple[str, str, str]:
    order = sorted(range(len(names)), key=lambda n: -weights[n])[:3]
    shades = "".join(SHADES[min(len(SHADES) - 1, int(weight * len(SHADES)))] for weight in weights)
    return token, ", ".join(f"{names[n]} {weights[n]:.2f}" for n in order), f"|{shades}|"
