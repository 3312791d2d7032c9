"""`chainrule export`: a run's model as a file that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit


def export(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    file: Annotated[Path, typer.Argument(help="The file to write; compressed if it ends in .gz. With --to engine "
                                         "or neural: the run folder to make.")],
    to: Annotated[str, typer.Option(help="The format; `chainrule parts formats` lists them.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Json = False,
) -> None:
    """Write a run's model in a format that other programs read, or as a run of another family.

    Examples:

        chainrule export runs/ptb5 --to arpa ptb5.arpa
        chainrule export runs/ptb5 --to arpa ptb5.arpa.gz
        chainrule export runs/vectors --to word2vec vectors.txt
        chainrule export runs/transformer --to engine runs/without-torch
    """
    from chainrule.cli.terminal.stepping import shown_steps
    from chainrule.verbs.export import export as export_run

    with shown_steps(f"exporting to {file.name}"):
        done = export_run(run, to, file, force=force)
    emit(done, json, _show)


def _show(done: dict[str, Any]) -> None:
    sizes = "".join(f", {size:,} {n}-grams" for n, size in enumerate(done.get("ngrams", []), start=1))
    print(f"{done['file']}: {done['bytes']:,} bytes{sizes}")
