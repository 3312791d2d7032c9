"""`chainrule count`: count the n-grams of a text, or of one part of it, to merge them into a model later."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chainrule.cli.terminal.console import Json, emit


def count(
    spec: Annotated[str, typer.Argument(help="Text: a file, glob, folder or built-in corpus.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="Options, as path=value.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder of counts to make.")] = None,
    part: Annotated[str, typer.Option(help="Which part of the text to count: i/n, from 1/n to n/n.")] = "1/1",
    recipe: Annotated[str, typer.Option(help="A counting recipe.")] = "ngram",
    tokenizer: Annotated[Path | None, typer.Option(help="A tokenizer.json to use, instead of making one.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing folder.")] = False,
    json: Json = False,
) -> None:
    """Count the n-grams of a text, or of one part of it; `chainrule merge` makes a model of the parts.

    Example:

        chainrule count pydoc --part 1/2 --out parts/1 model.order=3
        chainrule count pydoc --part 2/2 --out parts/2 model.order=3
        chainrule merge parts/1 parts/2 --out runs/merged
    """
    from chainrule.errors import UsageError
    from chainrule.verbs.count import count as count_part

    if out is None:
        raise UsageError(f"count needs --out FOLDER, for example: chainrule count {spec} --out parts/1")
    report = count_part(spec, out, part=part, recipe=recipe, overrides=overrides or (), tokenizer=tokenizer,
                        force=force)

    def show(found: dict) -> None:
        grams = ", ".join(f"{n:,}" for n in found["ngrams"])
        print(f"{found['tokens']:,} tokens, {grams} n-grams of orders 1 to {len(found['ngrams'])}, in {found['out']}")

    emit({"out": str(out), "part": part, **report}, json, show)
