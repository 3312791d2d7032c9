"""`chainrule evaluate`: how good a run is on held-out data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, table
from chainrule.cli.terminal.figures_shown import show_figures


def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    data: Annotated[list[str], typer.Option(help="What to measure on: a file, glob, folder or built-in corpus; - is "
                                               "standard input; repeatable.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="How text is read, as text.errors=replace.")] = None,
    target: Annotated[list[str] | None, typer.Option(help="Of translation and the like: what --data should become, "
                                                     "line by line.")] = None,
    by_order: Annotated[bool, typer.Option("--by-order", help="Also with shorter contexts (Shannon's game).")] = False,
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples for the 95 % intervals; 0: none.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the resamples.")] = 0,
    beams: Annotated[int | None, typer.Option(min=1, help="Of models that write texts: beams of the search; 5 if not "
                                              "given, 1 is greedy.")] = None,
    threshold: Annotated[str | None, typer.Option(metavar="P|auto", help="Of a text classifier: reject texts whose "
                                                  "likeliest label has a smaller probability.")] = None,
    json: Json = False,
) -> None:
    """Measure a model on data that it has not learned from, by the measures of its task, with 95 % intervals.

    Language models are measured on text by perplexity and bits per byte, masked ones on tokens that are hidden from
    them; classifiers and taggers on labeled data by accuracy or F1; translators, headlines and captions by BLEU, chrF
    or ROUGE; transcribers by word error rate; models of images and music by what they need to tell a pixel or a time
    step; word vectors on test files.

    Examples:

        chainrule evaluate runs/ptb5 --data ptb.test.txt.gz
        chainrule evaluate runs/ptb5 --data ptb.test.txt.gz --by-order --json
        zcat ptb.test.txt.gz | chainrule evaluate runs/ptb5 --data -
        chainrule evaluate runs/vectors --data questions-words.txt --data wordsim353.tsv
        chainrule evaluate runs/topics --data test.csv --threshold auto
        chainrule evaluate runs/pos --data test.conllu --json
        chainrule evaluate runs/m --data test.en --target test.de --beams 5
    """
    from contextlib import ExitStack

    from chainrule.cli.terminal.piped import as_file, named
    from chainrule.cli.terminal.stepping import shown_steps
    from chainrule.errors import UsageError
    from chainrule.verbs.evaluate import evaluate as measure

    if data.count("-") > 1:
        raise UsageError("--data - is given twice, expected once: standard input can be read once only.")
    with ExitStack() as files, shown_steps("measuring"):
        names = [files.enter_context(as_file(each)) for each in data]
        found = measure(run, names, by_order=by_order, bootstrap=bootstrap, seed=seed, overrides=overrides or (),
                        threshold=threshold, target=target, beams=beams)
    if "files" in found:
        given = dict(zip(names, map(named, data), strict=True))
        found["files"] = {given.get(name, name): scores for name, scores in found["files"].items()}
    show = _show_files if "files" in found else _show if "bits_per_byte" in found else _show_figures
    emit({"run": str(run), **found}, json, show)


def _show(found: dict[str, Any]) -> None:
    interval = found["interval"] or {}

    def sure(name: str, digits: int) -> str:
        value = f"{found[name]:,.{digits}f}"
        return value + " ({:,.{d}f} to {:,.{d}f})".format(*interval[name], d=digits) if name in interval else value

    note = "" if found["bits_per_byte_comparable"] else "  not comparable: the tokens lose text"
    rows = [
        ("perplexity", sure("perplexity", 2)),
        ("without unknowns", f"{found['perplexity_excluding_unknown']:,.2f}"),
        ("bits per token", f"{found['entropy']:.4f}"),
        ("bits per byte", sure("bits_per_byte", 4) + note),
        *([("bits per base", sure("bits_per_base", 4) + note)] if "bits_per_base" in found else []),
        ("bits per character", f"{found['bits_per_character']:.4f}{note}"),
        ("tokens", f"{found['tokens']:,} in {found['units']:,} units, {found['unknown']:,} unknown"),
        ("bytes", f"{found['bytes']:,}"),
    ]
    if found["impossible"]:
        rows.append(("impossible", f"{found['impossible']:,} tokens have no probability at all"))
    table(["", ""], rows)
    if "by_order" in found:
        print()
        table(["context", "perplexity", "bits per token", "bits per byte"],
              [(row["context"], f"{row['perplexity']:,.2f}", f"{row['entropy']:.4f}", f"{row['bits_per_byte']:.4f}")
               for row in found["by_order"]])


def _show_figures(found: dict[str, Any]) -> None:
    """Any other task; of a classifier, precision and recall only where they are not the accuracy by definition."""
    from chainrule.classifying.measuring import one_number

    show_figures(found, ("precision", "recall") if "labels" in found and one_number(found) else ())


def _show_files(found: dict[str, Any]) -> None:
    """Word vectors: the figures of each test file, and of its sections."""
    for name, scores in found["files"].items():
        print(name)
        table(["", ""], [(key.replace("_", " "), _figure(value)) for key, value in scores.items() if key != "sections"])
        if len(sections := scores.get("sections", {})) > 1:
            columns = list(next(iter(sections.values())))
            table(["section", *columns], [(each, *(_figure(value) for value in row.values()))
                                          for each, row in sections.items()])
        print()


def _figure(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else "-" if value is None else f"{value:,}" if isinstance(
        value, int) else str(value)
