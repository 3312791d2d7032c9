"""What `chainrule inspect --map` does: place the words, write the page, say what was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.console import emit, say
from chainrule.cli.terminal.stepping import shown_steps
from chainrule.errors import UsageError

DEFAULT = Path("map.html")


def show_map(what: Sequence[str], *, words: int, method: str | None, out: Path | None, json: bool) -> None:
    """One run with word vectors; with --json alone no page is written."""
    if len(what) != 1:
        raise UsageError(f"{len(what)} words follow inspect, expected one run: a map is of one run's word vectors.")
    if out is not None and out.suffix != ".html":
        raise UsageError(f"--out = {str(out)!r}, expected a name that ends in .html.")
    from chainrule.inspection.wordmap import word_map

    page = out if out is not None or json else DEFAULT
    if page is not None:
        from chainrule.pages.page import check_built

        check_built()  # before minutes of placing
    with shown_steps("reading"):
        found = word_map(what[0], words=words, method=method) | {"run": what[0]}
    if page is not None:
        from chainrule.pages.page import write_page

        write_page(page, view="map", title=f"The words of {what[0]}", data=found)
        say(f"wrote {page}.")
    emit(found, json, _show)


def _show(found: dict[str, Any]) -> None:
    shown = f"{len(found['words']):,} of {found['of']:,} words, {found['dimension']} numbers each"
    print(f"{found['run']}: {shown}")
    for each in found["maps"]:
        print(each["said"])
