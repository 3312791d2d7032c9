"""`chainrule quantize RUN --out SMALL`: a text classifier in a fraction of its size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit


def quantize(
    run: Annotated[Path, typer.Argument(help="A run folder with a text classifier.")],
    out: Annotated[Path, typer.Option(help="The smaller run folder to make.")],
    cutoff: Annotated[int | None, typer.Option(min=1, help="Keep only so many features, those of longest vectors; all "
                                               "if not given.")] = None,
    piece: Annotated[int, typer.Option(min=1, help="Numbers of a vector that become one byte.")] = 2,
    norms: Annotated[bool, typer.Option(help="Quantize lengths apart from directions.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run.")] = False,
    json: Json = False,
) -> None:
    """Make a small run of a text classifier, by product quantization.

    Examples:

        chainrule quantize runs/topics --out runs/topics-small
        chainrule quantize runs/topics --out runs/topics-tiny --cutoff 10000
    """
    from chainrule.cli.terminal.stepping import shown_steps
    from chainrule.verbs.quantize import quantize as shrink

    with shown_steps("reading"):
        done = shrink(run, out, cutoff=cutoff, piece=piece, norms=norms, force=force)
    emit(done, json, _show)


def _show(done: dict[str, Any]) -> None:
    ratio = done["bytes_before"] / done["bytes"]
    smaller = f"{ratio:.1f} times smaller than" if ratio >= 1.05 else "no smaller than"
    print(f"{done['run']}: {done['bytes']:,} bytes, {smaller} {done['bytes_before']:,}; "
          f"{done['features']:,} of {done['features_before']:,} features")
