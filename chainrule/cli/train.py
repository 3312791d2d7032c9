"""`chainrule train`: a recipe and a text become a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, quiet


def train(
    recipe: Annotated[str, typer.Argument(help="A shipped recipe (see `chainrule recipes`), a YAML file or a run.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="Options, as path=value.")] = None,
    data: Annotated[list[str] | None, typer.Option(help="Text: file, glob, folder or built-in; repeatable.")] = None,
    valid: Annotated[list[str] | None, typer.Option(help="Text to validate on, which is not trained on.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
    autotune: Annotated[str | None, typer.Option(metavar="TIME", help="Search for better options so long, as 60s or "
                                                 "20trials; text classifiers only.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a run, or another unfinished one.")] = False,
    json: Json = False,
) -> None:
    """Train a model on a text and save it as a run folder.

    Examples:

        chainrule train ngram --data pydoc --out runs/pydoc
        chainrule train ngram --data corpus/ --out runs/chars model.order=8 tokenizer.name=characters
        chainrule train text-classifier --data train.csv --out runs/topics --autotune 60s
        chainrule train skipgram --data corpus/ --out runs/vectors model.dimension=200 tokenizer.min_count=10

    `chainrule recipes NAME` shows every option that a recipe has.
    """
    from chainrule.cli.terminal.stepping import shown_steps
    from chainrule.errors import UsageError
    from chainrule.training.group import group_from_environment
    from chainrule.verbs.train import train as train_run

    if not data or out is None:
        missing = "--data SPEC" if not data else "--out RUN"
        raise UsageError(f"train needs {missing}, for example: chainrule train {recipe} --data pydoc --out runs/first")
    overrides = [*(overrides or ()), *([] if autotune is None else [f"training.autotune={autotune}"])]
    leads = group_from_environment().leads
    with shown_steps() if leads else quiet() as show:
        report = train_run(recipe, data, out, valid=valid, overrides=overrides, force=force, show=show)
    if leads:  # of several processes that train one model together, only the first prints
        emit({"run": str(out), **report}, json, lambda found: _show(found, out))


def _show(report: dict[str, Any], out: Path) -> None:
    from chainrule.cli.terminal.console import table
    from chainrule.runs import task_of

    table(["", ""], _rows(report))
    for sentence in report.get("advice", ()):
        print(f"\nnote: {sentence}")
    print(f"\nsaved in {out}. Next:")
    for use in task_of(out).uses:
        print(f"  chainrule {use.format(run=out)}")


def _rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    from chainrule.cli.terminal.summary import STEPPED, measured, stepped

    rows = []
    for key, value in report.items():
        if key == "data" or (key == "peak_memory" and "steps" not in report):  # for machines
            continue
        if "steps" in report and key in STEPPED:
            rows += stepped(report) if key == "steps" else []
            continue
        match value:
            case dict() if key == "valid":
                rows.append(("validation", measured(value)))
            case dict():
                if value:
                    rows.append((key, ", ".join(f"{k} {_short(v)}" for k, v in value.items())))
            case list():
                rows.append((key, ", ".join(f"{v:,}" if isinstance(v, int) else str(v) for v in value)))
            case _:
                rows.append((key, f"{value:,}" if isinstance(value, int) else str(value)))
    return rows


def _short(value: Any) -> str:
    """Long lists by their ends: report.json has them whole."""
    if isinstance(value, list) and len(value) > 8:
        return f"[{value[0]}, … {len(value) - 2} more …, {value[-1]}]"
    return str(value)
