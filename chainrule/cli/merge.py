"""`chainrule merge`: one model from parts that were counted separately."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chainrule.cli.terminal.console import Json, emit


def merge(
    parts: Annotated[list[str], typer.Argument(help="Folders that `chainrule count` made, and options as path=value.")],
    out: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
    valid: Annotated[list[str] | None, typer.Option(help="Text to validate on; Jelinek-Mercer learns from it.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run folder.")] = False,
    json: Json = False,
) -> None:
    """Merge counted parts into exactly the model that training on the whole text gives.

    Example:

        chainrule merge parts/1 parts/2 --out runs/merged model.smoothing=witten_bell
    """
    from chainrule.cli.terminal.stepping import shown_steps
    from chainrule.errors import UsageError
    from chainrule.recipe.overrides import is_override
    from chainrule.verbs.merge import merge as train_on_parts

    if out is None:
        raise UsageError("merge needs --out RUN, for example: chainrule merge parts/* --out runs/merged")
    overrides = [word for word in parts if is_override(word)]
    folders = [word for word in parts if word not in overrides]
    with shown_steps():
        report = train_on_parts(folders, out, overrides=overrides, valid=valid, force=force)

    def show(found: dict) -> None:
        grams = ", ".join(f"{n:,}" for n in found["ngrams"])
        print(f"{len(folders)} parts, {found['tokens']:,} tokens, {grams} n-grams; saved in {out}")

    emit({"run": str(out), **report}, json, show)
