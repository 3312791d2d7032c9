"""The table of a comparison: as it is printed, and as CSV, LaTeX and Markdown files for a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chainrule.errors import StorageError, UsageError
from chainrule.storage.files import created
from chainrule.storage.writing import check_writable

Row = Mapping[str, Any]
HEADERS = ("", "bits/byte", "95 % interval", "parameters", "training", "tokens/s", "memory", "disk", "writes", "FLOPs")
COLUMNS = ("name", "status", "bits_per_byte", "interval_low", "interval_high", "seed_deviation", "parameters",
           "training_seconds", "tokens_per_second", "peak_memory_bytes", "disk_bytes", "generation_tokens_per_second",
           "flops", "perplexity", "perplexity_low", "perplexity_high")
LATEX = {**{each: f"\\{each}" for each in "&%$#_{}"}, "\\": "\\textbackslash{}", "~": "\\textasciitilde{}",
         "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "±": "$\\pm$"}
MARKDOWN = {each: f"\\{each}" for each in "\\|*`<"}


def headers(by: str) -> tuple[str, ...]:
    """HEADERS for rows that are ranked by bits per byte, or by perplexity."""
    return HEADERS if by == "bits_per_byte" else (HEADERS[0], by, *HEADERS[2:])


def printed(row: Row, by: str = "bits_per_byte") -> tuple[str, ...]:
    """The cells of a row under its headers, rounded for people."""
    if by == "perplexity":
        return (row["name"], *_perplexity(row), *_costs(row))
    bits, interval = row["bits_per_byte"], row["interval"]
    number = row["status"] if bits is None else f"{bits:.3f}" if row["comparable"] else "not comparable"
    spread = f" ±{row['spread']:.3f}" if row["spread"] is not None and row["comparable"] else ""
    beside = f"perplexity {row['perplexity']:,.1f}" if row["perplexity"] and not row["comparable"] else ""
    between = "" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"
    return (row["name"], number + spread, between if row["comparable"] else beside, *_costs(row))


def _perplexity(row: Row) -> tuple[str, str]:
    """The same number and interval for rows that share tokens which lose text."""
    if row["perplexity"] is None or row["status"] != "ok":
        return row["status"], ""
    spread, interval = row["perplexity_spread"], row["perplexity_interval"]
    return (f"{row['perplexity']:,.1f}" + (f" ±{spread:,.1f}" if spread is not None else ""),
            "" if interval is None else f"{interval[0]:,.1f} to {interval[1]:,.1f}")


def as_csv(report: Mapping[str, Any]) -> str:
    """Every number as report.json has it, in the units that COLUMNS name; an empty cell is a number there is not."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    if other := _of_its_own(report):
        lines.writerows(other.csv_lines(report))
        return text.getvalue()
    lines.writerow(COLUMNS)
    for row in report["rows"]:
        measured, interval = row["measured"], row["interval"] if row["comparable"] else None
        status = row["status"] if row["comparable"] or row["status"] != "ok" else "not comparable"
        lines.writerow([row["name"], status, row["bits_per_byte"] if row["comparable"] else None,
                        *(interval or (None, None)), row["spread"] if row["comparable"] else None, row["parameters"],
                        measured["training_seconds"] if row["kind"] == "model" else None,
                        measured["tokens_per_second"], measured["peak_memory"], row["disk_bytes"],
                        measured["generation_tokens_per_second"], row["flops"], row["perplexity"],
                        *(row["perplexity_interval"] or (None, None))])
    return text.getvalue()


def as_latex(report: Mapping[str, Any]) -> str:
    """A tabular in the style of booktabs."""
    lines = [" & ".join(_escaped(cell, LATEX) for cell in cells) + r" \\" for cells in _paper(report)]
    columns = "l" + "r" * (len(_paper(report)[0]) - 1)
    return "\n".join([r"% \usepackage{booktabs}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0],
                      r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}"]) + "\n"


def as_markdown(report: Mapping[str, Any]) -> str:
    """A table as GitHub and Pandoc read it."""
    lines = [f"| {' | '.join(_escaped(cell, MARKDOWN) for cell in cells)} |" for cells in _paper(report)]
    rule = "|---|" + "---:|" * (len(_paper(report)[0]) - 1)
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def _of_its_own(report: Mapping[str, Any]) -> Any:
    """The tables of an ablation, or of a report that ranks by a measure of its task; None for bits per byte."""
    if report.get("kind") == "ablation":
        from chainrule.experiments.ablation import tables as of_ablation

        return of_ablation
    if "measure" not in report:
        return None
    from chainrule.experiments.by_measure import tables as by_measure

    return by_measure


FORMATS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "csv": as_csv, "latex": as_latex, "markdown": as_markdown}


def check_tables(files: Mapping[str, Path]) -> None:
    """Refuses names that cannot be written, before hours of work."""
    if len({path.resolve() for path in files.values()}) < len(files):
        raise UsageError(f"{' and '.join(f'--{name} {path}' for name, path in files.items())} name the same file, "
                         "expected one for each.")
    for path in files.values():
        if path.exists() and not path.is_file():
            raise StorageError(f"{path}: not a regular file, expected the name of a file to write.")
        check_writable(path, path.resolve())


def write_tables(files: Mapping[str, Path], report: Mapping[str, Any]) -> None:
    """Writes each table in its format; an older file of that name is replaced."""
    for name, path in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{path}: not written: {error.strerror or error}.") from error
        with created(path) as write:
            write(FORMATS[name](report).encode(errors="replace"))


def _paper(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The head and all rows, with the ends of the interval in columns of their own."""
    if other := _of_its_own(report):
        return other.paper(report)
    by = report["ranked_by"]
    found: list[tuple[str, ...]] = [("model", headers(by)[1], "95 % low", "95 % high", *HEADERS[3:])]
    for row in report["rows"]:
        interval = row["perplexity_interval"] if by == "perplexity" else row["interval"] if row["comparable"] else None
        ends = [f"{end:.{3 if by == 'bits_per_byte' else 1}f}" for end in interval] if interval else ["", ""]
        name, number, _, *costs = printed(row, by)
        found.append((name, number, *ends, *costs))
    return found


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(each, each) for each in " ".join(text.split()))


def _costs(row: Row) -> tuple[str, ...]:
    measured = row["measured"]
    return (in_short(row["parameters"]), in_seconds(measured["training_seconds"]) if row["kind"] == "model" else "",
            in_short(measured["tokens_per_second"]), in_bytes(measured["peak_memory"]), in_bytes(row["disk_bytes"]),
            _unit(in_short(measured["generation_tokens_per_second"]), "tok/s"), in_short(row["flops"]))


def in_short(number: float | None) -> str:
    """Three digits and a letter: 1.23M."""
    if number is None:
        return ""
    for size, letter in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def in_bytes(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number / 1e3:.0f} kB" if number < 1e5 else f"{number / 1e6:,.{0 if number >= 1e7 else 1}f} MB"


def in_seconds(number: float | None) -> str:
    return "" if number is None else f"{number * 1e3:.0f} ms" if number < 0.1 else f"{number:,.1f} s"


def _unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if text else ""
