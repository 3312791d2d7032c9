"""What --grid varied, for a chart: for each option, a line for each recipe over the values of that option."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.experiments.contestants import Contestant, choices


def grid_of(entries: Sequence[Contestant], options: Sequence[str]) -> list[dict[str, Any]]:
    """`option`, `values` and `lines`; a line's points name the row of the table that has its numbers.

    With several options there is a line for each combination of the other ones.
    """
    found = []
    for option in options:
        path, values = option.partition("=")[0], [choice.partition("=")[2] for choice in choices(option)]
        lines: dict[str, list[dict[str, str]]] = {}
        for each in entries:
            own = [change for change in each.changes if change.partition("=")[0] == path]
            if not own:
                continue
            others = [change.removeprefix("model.") for change in each.changes if change not in own]
            name = " ".join([Path(each.source).stem, *others])
            lines.setdefault(name, []).append({"value": own[-1].partition("=")[2], "row": each.name})
        found.append({"option": path, "values": values,
                      "lines": [{"name": name, "points": points} for name, points in lines.items()]})
    return found
