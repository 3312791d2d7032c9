"""What `chainrule inspect --map` does: place the words, write the page, say what was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.console import emit, say
from chainrule.cli.terminal.outputs import check_out
from chainrule.cli.terminal.stepping import shown_steps
from chainrule.errors import UsageError

DEFAULT, MOST = Path("map.html"), 2000  # words of a map


def show_map(what: Sequence[str], *, words: str | None, method: str | None, labels: Path | None, clusters: int | None,
             out: Path | None, json: bool) -> None:
    """One run with word vectors; with --json alone no page is written."""
    if len(what) != 1:
        raise UsageError(f"{len(what)} words follow inspect, expected one run: a map is of one run's word vectors.")
    if labels is not None and clusters is not None:
        raise UsageError("--labels and --clusters are both given, expected one of them: a word has one color.")
    file = out if out is not None or json else DEFAULT
    if file is not None:
        check_out(file)  # before minutes of placing
    from chainrule.inspection.wordmap import Colors, word_map

    colors = Colors(labels) if clusters is None else Colors(labels, clusters)
    with shown_steps("reading"):
        found = word_map(what[0], words=asked_words(words), method=method, colors=colors) | {"run": what[0]}
    if file is not None:
        _write(found, file)
        say(f"wrote {file}.")
    emit(found, json, _show)


def asked_words(words: str | None) -> int | list[str]:
    """A number is how many of the most frequent; anything else are words with commas between them."""
    if words is None:
        return MOST
    if words.isascii() and words.isdigit() and int(words) > 0:
        return int(words)
    chosen = [word for word in (each.strip() for each in words.split(",")) if word]
    if not chosen or words.lstrip("-").isdigit():
        raise UsageError(f"--words = {words!r}, expected a number from 1 or words such as king,queen.")
    return chosen


def _write(found: dict[str, Any], file: Path) -> None:
    if file.suffix == ".html":
        from chainrule.pages.page import write_page

        write_page(file, view="map", title=f"The words of {found['run']}", data=found)
        return
    from chainrule.figures.files import write_figure
    from chainrule.inspection.wordmap import picture

    write_figure(file, picture(found, found["run"]))


def _show(found: dict[str, Any]) -> None:
    shown = f"{len(found['words']):,} of {found['of']:,} words, {found['dimension']} numbers each"
    print(f"{found['run']}: {shown}")
    for each in found["maps"]:
        print(each["said"])
    if found["groups"]:
        print(found["groups"]["said"])
