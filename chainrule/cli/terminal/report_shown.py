"""What `chainrule compare` prints: the table, what it is over, which differences count, notes, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.console import table

MOST = 6  # pairs without a significant difference that are named; all are in report.json


def show_report(report: dict[str, Any], out: Path, advise: bool) -> None:
    """A report by the text itself, or by a measure of its task."""
    _show_by_measure(report) if "measure" in report else _show_by_text(report)
    for row in report["rows"]:
        if row["status"] == "failed":
            print(f"{row['name']} failed: {row['why']}")
    _show_pairs(report, "permutation test" if "measure" in report else "bootstrap")
    for note in report["notes"]:
        print(f"Note: {note}")
    for sentence in report["advice"] if advise else ():
        print(f"Advice: {sentence}")
    page = out / "report.html"
    print(f"\nreport in {page if page.exists() else out / 'report.json'}")
    if report["best"]:
        print(f"best: {report['best']}. Next:")
        for use in _uses(report):
            print(f"  chainrule {use.format(run=out / 'best')}")


def _show_by_text(report: dict[str, Any]) -> None:
    from chainrule.experiments.tables import headers, printed

    by = report["ranked_by"]
    table(headers(by), [printed(row, by) for row in report["rows"]])
    held_out = f"{report['data']['held_out_bytes']:,} bytes held out"
    print(f"\nLower is better: bits per byte of the {held_out}, all of them predicted (8 without any model)."
          if by == "bits_per_byte" else f"\nLower is better: perplexity over the same tokens of the {held_out}.")
    explained = [_compressors([row["name"] for row in report["rows"] if row["kind"] == "compressor"]),
                 "The mixture averages the models' probabilities." if report["rows"][-1]["kind"] == "mixture" else ""]
    if any(explained):
        print(" ".join(filter(None, explained)))


def _show_by_measure(report: dict[str, Any]) -> None:
    from chainrule.experiments.by_measure.tables import headers, printed

    table(headers(report), [printed(report, row) for row in report["rows"]])
    better = "Higher" if report["measure"]["higher_is_better"] else "Lower"
    print(f"\n{better} is better: {report['measure']['label']} on the same {report['data']['compared_units']:,} "
          f"{report['units']} for all, none of them learned from.")


def _uses(report: dict[str, Any]) -> Sequence[str]:
    """The first commands for the best model."""
    return report["uses"][:2] if "uses" in report else ['generate {run} --prompt "..."']


def _compressors(names: list[str]) -> str:
    """What their rows are; a short text may have left one or all of them out."""
    if len(names) < 2:
        return f"{names[0]} is a compressor that reads the training text first." if names else ""
    return f"{', '.join(names[:-1])} and {names[-1]} are compressors that read the training text first."


def _show_pairs(report: dict[str, Any], test: str) -> None:
    """Pairs whose difference is not significant."""
    unclear = [(pair["a"], pair["b"]) for pair in report["pairs"] if not pair["significant"]]
    if unclear:
        more = f"; and {len(unclear) - MOST} more pairs" if len(unclear) > MOST else ""
        print(f"No significant difference: {'; '.join(map(', '.join, unclear[:MOST]))}{more}.")
    if len(unclear) < len(report["pairs"]):
        print(f"{'All other' if unclear else 'All'} differences are significant (paired {test} over "
              f"{report['units']}, 5 % for all pairs together by Holm's method).")
