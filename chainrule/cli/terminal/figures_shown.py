"""What an evaluation found, whatever the task: figures with their intervals, then a table for each list of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chainrule.cli.terminal.console import table

ROWS, LONG = 12, 60  # rows of a table, and characters of a text in it; --json has all
HIDDEN = ("run", "interval", "source")


def show_figures(found: Mapping[str, Any], hidden: Sequence[str] = ()) -> None:
    """Numbers first; rows by name (`per_label`) and lists of rows (`confusions`) as tables below."""
    interval = found.get("interval") or {}
    rows = [(_words(key), _figure(value) + _range(interval.get(key))) for key, value in found.items()
            if key not in (*HIDDEN, *hidden) and not isinstance(value, Mapping | list)]
    table(["", ""], rows)
    for key, value in found.items():
        if key in (*HIDDEN, *hidden) or not value:
            continue
        if isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values()):
            _table(_words(key).removeprefix("per "), [{"": name, **row} for name, row in value.items()])
        elif isinstance(value, list) and all(isinstance(each, Mapping) for each in value):
            _table(_words(key), value)


def _table(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    columns = [column for column in rows[0] if column not in HIDDEN]
    shown = rows if len(rows) <= ROWS + 3 else rows[:ROWS]
    print()
    named = columns[0] == ""
    if not named:
        print(f"{title}:")
    table([title if column == "" else _words(column) for column in columns],
          [tuple(_cell(row.get(column)) for column in columns) for row in shown])
    if len(shown) < len(rows):
        print(f"… and {len(rows) - len(shown):,} more: --json has all.")


def _words(key: str) -> str:
    return key.replace("_", " ")


def _range(bounds: Sequence[float] | None) -> str:
    return "" if bounds is None else f" ({bounds[0]:.4f} to {bounds[1]:.4f})"


def _cell(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else _figure(value)
    return text if len(text) <= LONG else f"{text[:LONG - 2].rsplit(' ', 1)[0]} …"


def _figure(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "-" if value is None else f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else \
        str(value)
