"""`chainrule ablate`: train a recipe and its changes under one budget; what helps, what is noise, what to combine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chainrule.cli.terminal.console import Json, emit, say
from chainrule.cli.terminal.trials_shown import shown_trials


def ablate(
    words: Annotated[list[str] | None, typer.Argument(metavar="RECIPE path=value,value ...", help=(
        "A shipped recipe, a YAML file or a run folder; then its changes, several values of each by commas."))] = None,
    data: Annotated[list[str] | None, typer.Option(help="Text: file, glob, folder or built-in; repeatable.")] = None,
    budget: Annotated[str, typer.Option(help="For each training: 90s, 5m, 1h, 20Mtok or 1e15flop.")] = "1m",
    out: Annotated[Path | None, typer.Option(help="The folder of the report and its runs.")] = None,
    valid: Annotated[list[str] | None, typer.Option(help="Held-out text; a tenth of the data if not given.")] = None,
    target: Annotated[list[str] | None, typer.Option(help="Of translation: what --data becomes, line by line.")] = None,
    valid_target: Annotated[list[str] | None, typer.Option(help="The same of --valid.")] = None,
    tokenizer: Annotated[str | None, typer.Option(help="One for all by name, or `own`; usually byte pairs.")] = None,
    params: Annotated[str | None, typer.Option(help="Scale widths to the size of the base (`base`), or 20M.")] = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each variant.")] = 1,
    all_pairs: Annotated[bool, typer.Option("--all-pairs", help="Also every two changes together.")] = False,
    grid: Annotated[bool, typer.Option("--grid", help="Also all combinations of changes.")] = False,
    search: Annotated[bool, typer.Option("--search", help="Find each a learning rate by short runs first.")] = False,
    change: Annotated[list[str] | None, typer.Option(help="path=value for the base and all variants.")] = None,
    on: Annotated[str, typer.Option(help="Where trainings run: here, or ray for a Ray cluster.")] = "here",
    side_by_side: Annotated[int, typer.Option(help="Trainings at a time on each GPU, or on the CPU.")] = 1,
    csv: Annotated[Path | None, typer.Option(help="Also write the table to this file, with all digits.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Also write the table for LaTeX, with booktabs.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Start another ablation in the same folder.")] = False,
    json: Json = False,
) -> None:
    """Find out which changes of a recipe help on your data, which are noise, and what to combine.

    Trains the recipe as it is and once with each change, under the same budget, on the same split. If it is stopped or
    killed, the same command continues it without repeating finished trainings. A variant that fails does not stop the
    others. A path or part that is misspelt is refused before any training.

    Examples:

        chainrule ablate transformer model.f=mlp,geglu model.norm=layer --data corpus/ --seeds 3 --out report
        chainrule ablate transformer model.norm=layer model.f=mlp --all-pairs --data pydoc --budget 2Mtok --out pairs
        chainrule ablate transformer model.pattern=random:20:s*8f*8 --data corpus/ --budget 1e14flop --out orders
        chainrule ablate transformer-classifier model.norm=layer --data reviews.csv --budget 2m --search --out report
    """
    from chainrule.cli.terminal.ablation_shown import show_ablation
    from chainrule.errors import UsageError
    from chainrule.experiments.ablation.ablate import ablate as run
    from chainrule.experiments.ablation.terms import AblationTerms
    from chainrule.experiments.ablation.variants import EXAMPLE
    from chainrule.experiments.tables import check_tables, write_tables

    if not words or not data or out is None:
        missing = "a recipe and its changes" if not words else "--data SPEC" if not data else "--out REPORT"
        raise UsageError(f"ablate needs {missing}, {EXAMPLE}")
    if all_pairs and grid:
        raise UsageError("--all-pairs and --grid are both given, expected one of them. --grid has all pairs, too.")
    files = {name: path for name, path in (("csv", csv), ("latex", latex), ("markdown", markdown)) if path is not None}
    check_tables(files)
    terms = AblationTerms(valid=valid, tokenizer=tokenizer, seeds=seeds, changes=change or (), params=params,
                          target=target, valid_target=valid_target, on=on, side_by_side=side_by_side, search=search,
                          combine="grid" if grid else "pairs" if all_pairs else "alone")
    with shown_trials() as progress:
        report = run(words, data, out, budget=budget, terms=terms, force=force, progress=progress)
    emit(report, json, lambda found: show_ablation(found, out))
    write_tables(files, report)
    if all(row["status"] == "failed" for row in report["rows"]):
        say("all variants failed.")
        raise typer.Exit(1)
