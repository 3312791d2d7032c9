"""`chainrule compare`: train recipes under one budget and compare them in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, say, table


def compare(
    recipes: Annotated[list[str] | None, typer.Argument(metavar="RECIPE [path=value] ...", help=(
        "Shipped recipes, YAML files or run folders; changes follow the recipe they are for."))] = None,
    data: Annotated[list[str] | None, typer.Option(help="Text: file, glob, folder or built-in; repeatable.")] = None,
    budget: Annotated[str, typer.Option(help="For each training: 90s, 5m, 1h, 20Mtok or 1e15flop.")] = "1m",
    out: Annotated[Path | None, typer.Option(help="The folder of the report and its runs.")] = None,
    valid: Annotated[list[str] | None, typer.Option(help="Held-out text; a tenth of the data if not given.")] = None,
    tokenizer: Annotated[str | None, typer.Option(help="One for all by name, or `own`; usually byte pairs.")] = None,
    params: Annotated[str | None, typer.Option(help="Scale widths to about so many parameters, such as 3M.")] = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each recipe.")] = 1,
    grid: Annotated[list[str] | None, typer.Option(help="Variants: path=value,value; repeatable.")] = None,
    change: Annotated[list[str] | None, typer.Option(help="path=value for every recipe that has it.")] = None,
    advise: Annotated[bool, typer.Option("--advise", help="Recommend models, if the numbers support it.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Start another comparison in the same folder.")] = False,
    json: Json = False,
) -> None:
    """Compare recipes under the same budget, on the same split, with the same tokens.

    If it is stopped or killed, the same command continues it without repeating finished trainings. A recipe that
    fails does not stop the others.

    Examples:

        chainrule compare ngram lstm transformer --data corpus/ --budget 5m --out report --advise
        chainrule compare lstm --grid model.width=64,128,256 --data pydoc --budget 2Mtok --seeds 3 --out widths
    """
    from chainrule.errors import UsageError
    from chainrule.experiments.compare import compare as run
    from chainrule.experiments.terms import Terms

    if not recipes or not data or out is None:
        missing = "recipes" if not recipes else "--data SPEC" if not data else "--out REPORT"
        raise UsageError(f"compare needs {missing}, for example: chainrule compare ngram lstm --data pydoc --budget 1m "
                         "--out report")
    terms = Terms(valid=valid, tokenizer=tokenizer, seeds=seeds, grid=grid or (), changes=change or (),
                  params=params)
    report = run(recipes, data, out, budget=budget, terms=terms, force=force)
    emit(report, json, lambda found: _show(found, out, advise))
    if all(row["status"] == "failed" for row in report["rows"] if row["kind"] == "model"):
        say("all recipes failed.")
        raise typer.Exit(1)


def _show(report: dict[str, Any], out: Path, advise: bool) -> None:
    table(["", "bits/byte", "95 % interval", "parameters", "training", "tokens/s", "memory", "disk", "writes", "FLOPs"],
          [_line(row) for row in report["rows"]])
    data = report["data"]
    print(f"\nLower is better: bits per byte of the {data['held_out_bytes']:,} bytes held out, all of them predicted "
          "(8 without any model).")
    print("zlib, bz2 and xz are compressors that read the training text first."
          + (" The mixture averages the models' probabilities." if report["rows"][-1]["kind"] == "mixture" else ""))
    for row in report["rows"]:
        if row["status"] == "failed":
            print(f"{row['name']} failed: {row['why']}")
    _show_pairs(report)
    for note in report["notes"]:
        print(f"Note: {note}")
    for sentence in report["advice"] if advise else ():
        print(f"Advice: {sentence}")
    page = out / "report.html"
    print(f"\nreport in {page if page.exists() else out / 'report.json'}")
    if report["best"]:
        print(f"best: {report['best']}. Next:\n  chainrule generate {out / 'best'} --prompt \"...\"")


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    measured = row["measured"]
    bits, interval = row["bits_per_byte"], row["interval"]
    number = row["status"] if bits is None else f"{bits:.3f}" if row["comparable"] else "not comparable"
    spread = f" ±{row['spread']:.3f}" if row["spread"] is not None and row["comparable"] else ""
    beside = f"perplexity {row['perplexity']:,.1f}" if row["perplexity"] and not row["comparable"] else ""
    return (row["name"], number + spread, _interval(interval) if row["comparable"] else beside,
            _short(row["parameters"]), _seconds(measured["training_seconds"]) if row["kind"] == "model" else "",
            _short(measured["tokens_per_second"]), _bytes(measured["peak_memory"]), _bytes(row["disk_bytes"]),
            _unit(_short(measured["generation_tokens_per_second"]), "tok/s"), _short(row["flops"]))


def _show_pairs(report: dict[str, Any]) -> None:
    """Pairs of models whose difference is not significant; all pairs are in report.json."""
    unclear = [(pair["a"], pair["b"]) for pair in report["pairs"] if not pair["significant"]]
    if unclear:
        more = f"; and {len(unclear) - 6} more pairs" if len(unclear) > 6 else ""
        print(f"No significant difference: {'; '.join(map(', '.join, unclear[:6]))}{more}.")
    if len(unclear) < len(report["pairs"]):
        print(f"{'All other' if unclear else 'All'} differences are significant (paired bootstrap over "
              f"{report['units']}, 5 % for all pairs together by Holm's method).")


def _interval(interval: list[float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def _short(number: float | None) -> str:
    """Three digits and a letter: 1.23M."""
    if number is None:
        return ""
    for size, letter in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def _bytes(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number / 1e3:.0f} kB" if number < 1e5 else f"{number / 1e6:,.{0 if number >= 1e7 else 1}f} MB"


def _seconds(number: float | None) -> str:
    return "" if number is None else f"{number * 1e3:.0f} ms" if number < 0.1 else f"{number:,.1f} s"


def _unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if text else ""
