"""`chainrule import`: another program's model file as a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit
from chainrule.errors import UsageError


def import_(
    file: Annotated[Path, typer.Argument(help="A model file, such as x.arpa.gz, x.vec or x.bin.")],
    out: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
    from_: Annotated[str | None, typer.Option("--from", help="The format, if name and content do not show it.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run folder.")] = False,
    json: Json = False,
) -> None:
    """Make a run folder of a model file that another program wrote.

    Examples:

        chainrule import kenlm.arpa --out runs/kenlm
        chainrule import srilm.lm.gz --out runs/srilm --from arpa
        chainrule import GoogleNews-vectors-negative300.bin.gz --out runs/news
    """
    from chainrule.cli.terminal.stepping import shown_steps
    from chainrule.verbs.import_ import import_model

    if out is None:
        raise UsageError(f"import needs --out RUN, for example: chainrule import {file} --out runs/imported")
    with shown_steps(f"importing {file.name}"):
        report = import_model(file, out, format=from_, force=force)
    emit(report, json, _show)


def _show(report: dict[str, Any]) -> None:
    from chainrule.cli.terminal.console import table
    from chainrule.runs import task_of

    table(["", ""], [(key, " ".join(f"{v:,}" for v in value) if isinstance(value, list) else value)
                     for key, value in report.items()])
    print(f"\nsaved in {report['run']}. Next:")
    for use in task_of(report["run"]).uses:
        print(f"  chainrule {use.format(run=report['run'])}")
