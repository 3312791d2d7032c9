"""`chainrule train`: a recipe and a text become a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, quiet


def train(
    recipe: Annotated[str, typer.Argument(help="A shipped recipe (see `chainrule recipes`), a YAML file, or a run.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="Options, as path=value.")] = None,
    data: Annotated[list[str] | None, typer.Option(help="Text: file, glob, folder or built-in; repeatable.")] = None,
    valid: Annotated[list[str] | None, typer.Option(help="Text to validate on, which is not trained on.")] = None,
    target: Annotated[list[str] | None, typer.Option(help="Of translation and the like: what --data becomes, line by "
                                                     "line.")] = None,
    valid_target: Annotated[list[str] | None, typer.Option(help="The same of --valid.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
    start_from: Annotated[str | None, typer.Option("--from", help="A finished run that training goes on from.")] = None,
    autotune: Annotated[str | None, typer.Option(metavar="TIME", help="Search for better options so long, as 60s or "
                                                 "20trials; text classifiers only.")] = None,
    folds: Annotated[int | None, typer.Option(min=2, help="Cross-validate first: train so many times without a part "
                                              "of the data, and measure on it.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a run, or another unfinished one.")] = False,
    json: Json = False,
) -> None:
    """Train a model on a text and save it as a run folder.

    Examples:

        chainrule train ngram --data pydoc --out runs/pydoc
        chainrule train ngram --data corpus/ --out runs/chars model.order=8 tokenizer.name=characters
        chainrule train text-classifier --data train.csv --out runs/topics --autotune 60s
        chainrule train skipgram --data corpus/ --out runs/vectors model.dimension=200 tokenizer.min_count=10
        chainrule train lstm --from runs/first --data more.txt --out runs/second
        chainrule train kim-cnn --data reviews.csv --folds 10 --out runs/reviews
        chainrule train translation-transformer --data train.en --target train.de --out runs/m

    `chainrule recipes NAME` shows every option that a recipe has.
    """
    from chainrule.cli.terminal.stepping import shown_steps
    from chainrule.errors import UsageError
    from chainrule.training.group import group_from_environment
    from chainrule.verbs.cross_validate import cross_validate
    from chainrule.verbs.train import train as train_run

    if not data or out is None:
        missing = "--data SPEC" if not data else "--out RUN"
        raise UsageError(f"train needs {missing}, for example: chainrule train {recipe} --data pydoc --out runs/first")
    if folds is not None and any(each is not None for each in (valid, valid_target, start_from)):
        raise UsageError("--folds holds out parts of --data itself, expected neither --valid nor --from beside it.")
    overrides = [*(overrides or ()), *([] if autotune is None else [f"training.autotune={autotune}"])]
    leads = group_from_environment().leads
    with shown_steps() if leads else quiet() as show:
        if folds is not None:
            report = cross_validate(recipe, data, out, folds=folds, target=target, overrides=overrides, force=force,
                                    show=show)
        else:
            report = train_run(recipe, data, out, valid=valid, target=target, valid_target=valid_target,
                               overrides=overrides, force=force, show=show, start_from=start_from)
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
            case dict() if key == "start_from":
                rows.append(("started from", value["run"]))
            case dict() if key == "valid":
                rows.append(("validation", measured(value)))
            case dict() if key == "folds":
                rows.append((f"{value['count']} folds", _folds(value)))
            case dict():
                if value:
                    rows.append((key, ", ".join(f"{k} {_short(v)}" for k, v in value.items())))
            case list():
                rows.append((key, ", ".join(f"{v:,}" if isinstance(v, int) else str(v) for v in value)))
            case _:
                rows.append((key, f"{value:,}" if isinstance(value, int) else str(value)))
    return rows


def _folds(found: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {each['mean']:.4f} ± {each['standard_error']:.4f}"
                     for name, each in found.items() if name != "count")


def _short(value: Any) -> str:
    """Long lists by their ends: report.json has them whole."""
    if isinstance(value, list) and len(value) > 8:
        return f"[{value[0]}, … {len(value) - 2} more …, {value[-1]}]"
    return str(value)
