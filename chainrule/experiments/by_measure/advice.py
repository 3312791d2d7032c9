"""Recommendations from a measure: a few sentences, none of which claims more than the tests support."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from chainrule.evaluation.measures._measure import Measure

Row = Mapping[str, Any]
CLEAR = 1.1


def advice(rows: Sequence[Row], pairs: Sequence[Mapping[str, Any]], measure: Measure) -> list[str]:
    """The best model first, whether it beats the baseline, then what is cheaper at no clear loss."""
    models = [row for row in rows if row["kind"] == "model" and row["value"] is not None]
    if not models:
        return ["No model can be recommended: none has a number."]
    best, by_name = models[0], {row["name"]: row for row in rows}
    clear = {frozenset((pair["a"], pair["b"])) for pair in pairs if pair["significant"]
             and abs(pair["difference"]) > _seeds(by_name[pair["a"]], by_name[pair["b"]])}
    rules = [row for row in rows if row["kind"] == "baseline"]
    beaten = [row for row in rules if frozenset((row["name"], best["name"])) in clear and _better(best, row, measure)]
    if rules and len(beaten) < len(rules):
        worse = next(row for row in rules if row not in beaten)
        return [f"None yet: no model is significantly better than the {worse['name']} "
                f"({worse['value']:.{measure.digits}f} {measure.label}). Try more data, a larger budget, or other "
                "options."]
    level = [row for row in models[1:] if frozenset((row["name"], best["name"])) not in clear]
    return [sentence for sentence in (_quality(best, models, level, measure), _cheaper(best, level)) if sentence]


def _better(one: Row, other: Row, measure: Measure) -> bool:
    return (one["value"] > other["value"]) == measure.higher


def _seeds(*rows: Row) -> float:
    """How much two rows may differ by their seeds alone: two standard errors of the difference of their means."""
    return 2 * math.sqrt(sum(row["spread"] ** 2 / len(row["seeds"]) for row in rows if row["spread"] is not None))


def _quality(best: Row, models: Sequence[Row], level: Sequence[Row], measure: Measure) -> str:
    number = f"{measure.label} {best['value']:.{measure.digits}f}"
    if len(models) == 1:
        return f"{best['name']} is the only model with a number: {number}."
    if not level:
        return f"If quality matters most, take {best['name']}: {number}, significantly better than every other model."
    names = [row["name"] for row in level]
    return (f"If quality matters most, {best['name']} has the {'highest' if measure.higher else 'lowest'} number, "
            f"{number}, but its difference to {_listed(names)} is not significant.")


def _cheaper(best: Row, level: Sequence[Row]) -> str | None:
    """Of the models that are as good, as far as one can tell: one that is smaller."""
    smaller = min(level, key=lambda row: row["disk_bytes"], default=None)
    if smaller is None or smaller["disk_bytes"] * CLEAR > best["disk_bytes"]:
        return None
    return (f"If size matters, take {smaller['name']}: {smaller['disk_bytes'] / 1e6:,.1f} MB instead of "
            f"{best['disk_bytes'] / 1e6:,.1f}, and no significant difference to {best['name']}.")


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
