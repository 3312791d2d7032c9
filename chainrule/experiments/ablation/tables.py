"""The table of an ablation: as it is printed, and its rows for CSV, LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chainrule.experiments.tables import in_short

Row = Mapping[str, Any]
COLUMNS = ("name", "changes", "status", "verdict", "parameters", "flops_per_token", "steps_per_second", "early_loss",
           "value", "seed_deviation", "difference", "difference_low", "difference_high", "p_value", "p_holm",
           "gain_at_equal_flops", "learning_rate", "steps", "tokens", "flops", "training_seconds", "peak_memory_bytes")


def headers(report: Mapping[str, Any]) -> tuple[str, ...]:
    """The heads of `printed`."""
    rate = ("rate",) if report["search"] else ()
    return ("", "parameters", "FLOPs/token", "steps/s", "early", report["measure"]["label"], "difference",
            "95 % interval", "p", "per FLOP", *rate, "")


def printed(report: Mapping[str, Any], row: Row) -> tuple[str, ...]:
    """The cells of a row, rounded for people."""
    digits, effect = report["measure"]["digits"], row["effect"]
    between = "" if effect is None or effect["low"] is None else (
        f"{effect['low']:+.{digits}f} to {effect['high']:+.{digits}f}")
    rate = ("" if row["rate"] is None else f"{row['rate']:.3g}",) if report["search"] else ()
    return (row["name"], *_costs(row), _number(row["early"], 3), _value(row, digits),
            "" if effect is None else f"{effect['difference']:+.{digits}f}", between,
            "" if effect is None else _p(effect["p_holm"]), _number(row["gain_at_equal_flops"], 3, "+"), *rate,
            _verdict(report, row))


def paper(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The head and all rows, with the ends of the interval in columns of their own."""
    _, *head = headers(report)
    at = head.index("95 % interval")
    found: list[tuple[str, ...]] = [("variant", *head[:at], "95 % low", "95 % high", *head[at + 1:-1], "verdict")]
    for row in report["rows"]:
        name, *cells = printed(report, row)
        ends = cells[at].split(" to ") if cells[at] else ["", ""]
        found.append((name, *cells[:at], *ends, *cells[at + 1:]))
    return found


def csv_lines(report: Mapping[str, Any]) -> list[list[Any]]:
    """Every number as report.json has it; None is a number there is not."""
    found: list[list[Any]] = [list(COLUMNS)]
    for row in report["rows"]:
        effect, measured = row["effect"] or {}, row["measured"]
        found.append([row["name"], " ".join(row["changes"]), row["status"], effect.get("verdict"), row["parameters"],
                      row["flops_per_token"], measured["steps_per_second"], row["early"], row["value"], row["spread"],
                      *(effect.get(key) for key in ("difference", "low", "high", "p_value", "p_holm")),
                      row["gain_at_equal_flops"], row["rate"], row["steps"], row["tokens"], row["flops"],
                      measured["training_seconds"], measured["peak_memory"]])
    return found


def _costs(row: Row) -> tuple[str, str, str]:
    return in_short(row["parameters"]), in_short(row["flops_per_token"]), in_short(row["measured"]["steps_per_second"])


def _value(row: Row, digits: int) -> str:
    if row["value"] is None:
        return row["status"] if row["status"] != "ok" else "none"
    return f"{row['value']:.{digits}f}" + (f" ±{row['spread']:.{digits}f}" if row["spread"] is not None else "")


def _number(value: float | None, digits: int, sign: str = "") -> str:
    return "" if value is None else f"{value:{sign}.{digits}f}"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _verdict(report: Mapping[str, Any], row: Row) -> str:
    return "base" if row["name"] == report["base"] else "" if row["effect"] is None else row["effect"]["verdict"]
