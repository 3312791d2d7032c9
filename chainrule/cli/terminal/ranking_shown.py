"""What `chainrule compare` prints where models are ranked by a measure of their task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.cli.terminal.console import table


def show_ranking(report: dict[str, Any], out: Path, advise: bool) -> None:
    """The table, what it is over, which differences count, notes, and what to do next."""
    from chainrule.experiments.by_measure.tables import headers, printed
    from chainrule.recipe.registry import build

    table(headers(report), [printed(report, row) for row in report["rows"]])
    better = "Higher" if report["measure"]["higher_is_better"] else "Lower"
    print(f"\n{better} is better: {report['measure']['label']} on the same {report['data']['compared_units']:,} "
          f"{report['units']} for all, none of them learned from.")
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
        uses = build("tasks", report["task"]).uses
        print(f"best: {report['best']}. Next:")
        for use in uses[:2]:
            print(f"  chainrule {use.format(run=out / 'best')}")


def _show_pairs(report: dict[str, Any]) -> None:
    """Pairs whose difference is not significant; all pairs are in report.json."""
    unclear = [(pair["a"], pair["b"]) for pair in report["pairs"] if not pair["significant"]]
    if unclear:
        more = f"; and {len(unclear) - 6} more pairs" if len(unclear) > 6 else ""
        print(f"No significant difference: {'; '.join(map(', '.join, unclear[:6]))}{more}.")
    if len(unclear) < len(report["pairs"]):
        print(f"{'All other' if unclear else 'All'} differences are significant (paired permutation test over "
              f"{report['units']}, 5 % for all pairs together by Holm's method).")
