"""The table of a comparison by a measure: as it is printed, and its rows for CSV, LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chainrule.experiments.tables import in_bytes, in_seconds

Row = Mapping[str, Any]
COSTS = ("training", "memory", "disk")


def headers(report: Mapping[str, Any]) -> tuple[str, ...]:
    """The heads of `printed`."""
    beside = [each["label"] for each in report["beside"].values()]
    return ("", report["measure"]["label"], "95 % interval", *beside, *COSTS)


def printed(report: Mapping[str, Any], row: Row) -> tuple[str, ...]:
    """The cells of a row, rounded for people."""
    digits, interval = report["measure"]["digits"], row["interval"]
    between = "" if interval is None else f"{interval[0]:.{digits}f} to {interval[1]:.{digits}f}"
    return (row["name"], _number(report, row), between, *_beside(report, row), *_costs(row))


def paper(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The head and all rows, with the ends of the interval in columns of their own."""
    digits, (_, label, _, *rest) = report["measure"]["digits"], headers(report)
    found: list[tuple[str, ...]] = [("model", label, "95 % low", "95 % high", *rest)]
    for row in report["rows"]:
        ends = ["", ""] if row["interval"] is None else [f"{end:.{digits}f}" for end in row["interval"]]
        found.append((row["name"], _number(report, row), *ends, *_beside(report, row), *_costs(row)))
    return found


def csv_lines(report: Mapping[str, Any]) -> list[list[Any]]:
    """Every number as report.json has it; None is a number there is not."""
    keys = list(report["beside"])
    names = [report["beside"][key]["label"].replace(" ", "_") for key in keys]
    found: list[list[Any]] = [["name", "status", report["measure"]["label"], "interval_low", "interval_high",
                               "seed_deviation", *names, "training_seconds", "peak_memory_bytes", "disk_bytes"]]
    for row in report["rows"]:
        found.append([row["name"], row["status"], row["value"], *(row["interval"] or (None, None)), row["spread"],
                      *(row["beside"].get(key) for key in keys), row["measured"]["training_seconds"],
                      row["measured"]["peak_memory"], row["disk_bytes"]])
    return found


def _number(report: Mapping[str, Any], row: Row) -> str:
    digits = report["measure"]["digits"]
    if row["value"] is None:
        return row["status"] if row["status"] != "ok" else "none"
    return f"{row['value']:.{digits}f}" + (f" ±{row['spread']:.{digits}f}" if row["spread"] is not None else "")


def _beside(report: Mapping[str, Any], row: Row) -> list[str]:
    return ["" if (value := row["beside"].get(key)) is None else f"{value:.{each['digits']}f}"
            for key, each in report["beside"].items()]


def _costs(row: Row) -> tuple[str, ...]:
    measured = row["measured"]
    return in_seconds(measured["training_seconds"]), in_bytes(measured["peak_memory"]), in_bytes(row["disk_bytes"])
