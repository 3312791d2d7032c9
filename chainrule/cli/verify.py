"""`chainrule verify RUN`: reads every byte of a run folder and compares it with the manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, say


def verify(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    json: Json = False,
) -> None:
    """Check every file of a run folder against its manifest.

    Examples:

        chainrule verify runs/ptb5
        chainrule verify runs/ptb5 --json
    """
    from chainrule.storage import verify_run
    from chainrule.storage.run_folder import extra_files

    folder, problems = verify_run(run)
    extra = extra_files(folder.path, folder.files)
    total = sum(entry.size for entry in folder.files.values())
    result = {"run": str(run), "valid": not problems, "files": len(folder.files), "bytes": total,
              "problems": [str(problem) for problem in problems], "extra": extra}
    for problem in problems:
        say(str(problem))
    emit(result, json, _show)
    if problems:
        raise typer.Exit(1)


def _show(result: dict[str, Any]) -> None:
    if result["extra"]:
        print(f"not part of the run: {', '.join(result['extra'])}")
    verdict = "valid" if result["valid"] else f"damaged: {len(result['problems'])} of its files"
    print(f"{result['run']}: {verdict} ({result['files']} files, {result['bytes']:,} bytes)")
