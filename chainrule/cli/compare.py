"""`chainrule compare`: train recipes under one budget and compare them in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chainrule.cli.terminal.console import Json, emit, say
from chainrule.cli.terminal.trials_shown import shown_trials


def compare(
    recipes: Annotated[list[str] | None, typer.Argument(metavar="RECIPE [path=value] ...", help=(
        "Shipped recipes, YAML files or run folders; changes follow the recipe they are for."))] = None,
    data: Annotated[list[str] | None, typer.Option(help="Text: file, glob, folder or built-in; repeatable.")] = None,
    budget: Annotated[str, typer.Option(help="For each training: 90s, 5m, 1h, 20Mtok or 1e15flop.")] = "1m",
    out: Annotated[Path | None, typer.Option(help="The folder of the report and its runs.")] = None,
    valid: Annotated[list[str] | None, typer.Option(help="Held-out text; a tenth of the data if not given.")] = None,
    target: Annotated[list[str] | None, typer.Option(help="Of translation: what --data becomes, line by line.")] = None,
    valid_target: Annotated[list[str] | None, typer.Option(help="The same of --valid.")] = None,
    tokenizer: Annotated[str | None, typer.Option(help="One for all by name, or `own`; usually byte pairs.")] = None,
    params: Annotated[str | None, typer.Option(help="Scale widths to about so many parameters, such as 3M.")] = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each recipe.")] = 1,
    grid: Annotated[list[str] | None, typer.Option(help="Variants: path=value,value; repeatable.")] = None,
    change: Annotated[list[str] | None, typer.Option(help="path=value for every recipe that has it.")] = None,
    on: Annotated[str, typer.Option(help="Where trainings run: here, or ray for a Ray cluster.")] = "here",
    side_by_side: Annotated[int, typer.Option(help="Trainings at a time on each GPU, or on the CPU.")] = 1,
    advise: Annotated[bool, typer.Option("--advise", help="Recommend models, if the numbers support it.")] = False,
    csv: Annotated[Path | None, typer.Option(help="Also write the table to this file, with all digits.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Also write the table for LaTeX, with booktabs.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Start another comparison in the same folder.")] = False,
    json: Json = False,
) -> None:
    """Compare recipes under the same budget, on the same split, with the same tokens.

    If it is stopped or killed, the same command continues it without repeating finished trainings. A recipe that fails
    does not stop the others. Language models are ranked by bits per byte, other models by the measure of their task:
    classifiers and taggers by accuracy or F1, masked language models by nats per hidden token, translators by BLEU,
    transcribers by word error rate, word vectors by the questions or pairs of words that --valid names.

    Examples:

        chainrule compare ngram lstm transformer --data corpus/ --budget 5m --out report --advise
        chainrule compare lstm --grid model.width=64,128,256 --data pydoc --budget 2Mtok --seeds 3 --out widths
        chainrule compare ngram lstm --data corpus/ --out report --latex table.tex --csv table.csv
        chainrule compare text-classifier --grid model.word_ngrams=1,2 --data labeled.txt --budget 30s --out report
        chainrule compare cbow skipgram --data corpus/ --valid questions-words.txt --out report
        chainrule compare kim-cnn text-classifier transformer-classifier --data reviews.csv --budget 2m --out report
        chainrule compare tagger hmm-tagger --data train.conllu --valid dev.conllu --budget 2m --out report
        chainrule compare seq2seq attention-rnn --data train.en --target train.de --budget 5m --out report
    """
    from chainrule.cli.terminal.report_shown import show_report
    from chainrule.errors import UsageError
    from chainrule.experiments.compare import compare as run
    from chainrule.experiments.tables import check_tables, write_tables
    from chainrule.experiments.terms import Terms

    if not recipes or not data or out is None:
        missing = "recipes" if not recipes else "--data SPEC" if not data else "--out REPORT"
        raise UsageError(f"compare needs {missing}, for example: chainrule compare ngram lstm --data pydoc --budget 1m "
                         "--out report")
    files = {name: path for name, path in (("csv", csv), ("latex", latex), ("markdown", markdown)) if path is not None}
    check_tables(files)
    terms = Terms(valid=valid, tokenizer=tokenizer, seeds=seeds, grid=grid or (), changes=change or (),
                  params=params, target=target, valid_target=valid_target, on=on, side_by_side=side_by_side)
    with shown_trials() as progress:
        report = run(recipes, data, out, budget=budget, terms=terms, force=force, progress=progress)
    emit(report, json, lambda found: show_report(found, out, advise))
    write_tables(files, report)
    if all(row["status"] == "failed" for row in report["rows"] if row["kind"] == "model"):
        say("all recipes failed.")
        raise typer.Exit(1)
