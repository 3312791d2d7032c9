"""`chainrule parts`: what can be put into a recipe, read from the folders without importing any part."""

from __future__ import annotations

from typing import Annotated

import typer

from chainrule.cli.terminal.console import Json, emit, table
from chainrule.errors import UsageError, did_you_mean
from chainrule.recipe.registry import kinds, names, summary


def parts(
    kind: Annotated[str | None, typer.Argument(help="A kind, such as counting/smoothing; all when left out.")] = None,
    json: Json = False,
) -> None:
    """List the parts that recipes can name, with a sentence on each.

    Examples:

        chainrule parts
        chainrule parts counting/smoothing
    """
    if kind is not None and kind not in kinds():
        raise UsageError(f"no kind of part named {kind!r}.{did_you_mean(kind, kinds())}")
    found = {each: {name: summary(each, name) for name in names(each)} for each in ([kind] if kind else kinds())}
    emit({"parts": found}, json, lambda data: table(
        ["kind", "name", "what it is"],
        [(each, name, text) for each, group in data["parts"].items() for name, text in group.items()]))
