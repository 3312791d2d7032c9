"""Do two changes add up? What a pair does together, held against the sum of what each does alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from chainrule.experiments.ablation.effects import Tables, over_seeds
from chainrule.experiments.ablation.judges import ByText, Judge
from chainrule.experiments.ablation.rows import Scored


def combined(variants: Mapping[tuple[str, ...], Scored], judge: Judge) -> list[dict[str, Any]]:
    """Each pair of changes that was trained together and alone: (L_ab − L_0) − (L_a − L_0) − (L_b − L_0).

    `low` and `high` are the 95 % interval of that interaction; None for a measure that is no sum over units, with one
    seed. `said` is whether both changes help by themselves.
    """
    base, found = variants[()], []
    for changes, pair in variants.items():
        parts = [variants.get((change,)) for change in changes]
        if len(changes) != 2 or not all(each is not None and each.tables for each in (pair, base, *parts)):
            continue
        a, b = (each for each in parts if each is not None)
        alone = [each.row["value"] - base.row["value"] for each in (a, b)]
        low, high = _interval(pair.tables, base.tables, a.tables, b.tables, judge)
        found.append({"changes": list(changes), "together": pair.row["value"] - base.row["value"], "sum": sum(alone),
                      "low": low, "high": high, "higher_is_better": judge.higher, "digits": judge.digits,
                      "said": all((each.row["effect"] or {}).get("verdict") == "helps" for each in (a, b))})
    return found


def _interval(pair: Tables, base: Tables, a: Tables, b: Tables, judge: Judge) -> tuple[float | None, float | None]:
    seeds = sorted(pair.keys() & base.keys() & a.keys() & b.keys())
    if not seeds or not isinstance(judge, ByText):  # only sums over units can be added and taken apart
        return None, None
    gap = judge.gap([pair[seed] + base[seed] for seed in seeds], [a[seed] + b[seed] for seed in seeds])
    each = [judge.value(pair[seed] + base[seed]) - judge.value(a[seed] + b[seed]) for seed in seeds]
    found = over_seeds(gap, each, judge.count)
    return (found.low, found.high) if math.isfinite(found.low) and math.isfinite(found.high) else (None, None)
