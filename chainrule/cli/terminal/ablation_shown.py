"""What `chainrule ablate` prints: the table, the answer in words, notes, and where the report is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.cli.terminal.console import table


def show_ablation(report: dict[str, Any], out: Path) -> None:
    """The table of all variants, then what follows from it."""
    from chainrule.experiments.ablation.tables import headers, printed

    cells = [printed(report, row) for row in report["rows"]]
    shown = [n for n in range(len(cells[0])) if any(row[n] for row in cells)]  # counts have no steps and no FLOPs
    table([headers(report)[n] for n in shown], [[row[n] for n in shown] for row in cells])
    better = "Higher" if report["measure"]["higher_is_better"] else "Lower"
    print(f"\n{better} is better: {report['measure']['label']} of what is held out. Differences are from "
          f"{report['base']}, p is corrected for {sum(row['effect'] is not None for row in report['rows'])} tests.")
    for row in report["rows"]:
        if row["status"] == "failed":
            print(f"{row['name']} failed: {row['why']}")
    for note in report["notes"]:
        print(f"Note: {note}")
    print()
    for sentence in report["answer"]:
        print(sentence)
    page = out / "report.html"
    print(f"\nreport in {page if page.exists() else out / 'report.json'}")
