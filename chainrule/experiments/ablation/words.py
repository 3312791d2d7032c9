"""The answer of an ablation in words: what helps here, what hurts, what is noise, what to combine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.experiments.ablation.variants import shown

Row = Mapping[str, Any]
MOST = 8  # names in one sentence; the table has all


def answer(report: Mapping[str, Any]) -> list[str]:
    """A few sentences, none of which claims more than the tests support."""
    base, rows = _base(report), [row for row in report["rows"] if row["name"] != report["base"]]
    if base["value"] is None:
        return [f"Nothing can be said: the base, {base['name']}, failed: {base['why']}"]
    judged = [row for row in rows if row["effect"] is not None]
    if not judged:
        return ["Nothing can be said: every change failed."]
    measure = report["measure"]
    helps, hurts, noise = (_with(judged, verdict) for verdict in ("helps", "hurts", "noise"))
    said = [_listed("Helps here", helps, measure), _listed("Hurts", hurts, measure), _noise(noise, base, measure),
            _combine(helps, report), *map(_sum, report["combined"]), _orders(report, rows, base), _seeds(base, report)]
    return [sentence for sentence in said if sentence]


def chosen(helps: Sequence[Row]) -> list[Row]:
    """The best value of each option that helps by itself; the largest gain first."""
    best: dict[str, Row] = {}
    for row in helps:
        if len(row["changes"]) == 1:
            path = row["changes"][0].partition("=")[0]
            if path not in best or abs(row["effect"]["difference"]) > abs(best[path]["effect"]["difference"]):
                best[path] = row
    return sorted(best.values(), key=lambda row: -abs(row["effect"]["difference"]))


def _base(report: Mapping[str, Any]) -> Row:
    return next(row for row in report["rows"] if row["name"] == report["base"])


def _with(rows: Sequence[Row], verdict: str) -> list[Row]:
    found = [row for row in rows if row["effect"]["verdict"] == verdict]
    return sorted(found, key=lambda row: -abs(row["effect"]["difference"]))


def _listed(head: str, rows: Sequence[Row], measure: Mapping[str, Any]) -> str | None:
    if not rows:
        return None
    told = [f"{row['name']} ({_signed(row['effect'], measure)} {measure['label']})" for row in rows[:MOST]]
    return f"{head}: {'; '.join(told)}{_more(rows)}."


def _more(rows: Sequence[Row]) -> str:
    return f"; and {len(rows) - MOST} more" if len(rows) > MOST else ""


def _signed(effect: Mapping[str, Any], measure: Mapping[str, Any]) -> str:
    digits = measure["digits"]
    return f"{effect['difference']:+.{digits}f}, 95 % {effect['low']:+.{digits}f} to {effect['high']:+.{digits}f}"


def _noise(rows: Sequence[Row], base: Row, measure: Mapping[str, Any]) -> str | None:
    """Changes that this much data, budget and seeds do not tell from the base, and what they could still be worth."""
    if not rows:
        return None
    ends = [abs(end) for row in rows for end in (row["effect"]["low"], row["effect"]["high"]) if end is not None]
    within = f" A difference of up to {max(ends):.{measure['digits']}f} {measure['label']} would not be seen." if (
        ends) else ""
    names = "; ".join(row["name"] for row in rows[:MOST])
    return (f"Noise, as far as this can tell: {names}{_more(rows)}. No significant difference from {base['name']}."
            f"{within}")


def _combine(helps: Sequence[Row], report: Mapping[str, Any]) -> str:
    """What to take: the best value of each option that helps significantly."""
    best = chosen(helps)
    if not best:
        return f"Keep {report['base']} as it is: no change alone helps significantly."
    changes = [row["changes"][0] for row in best]
    if len(best) == 1:
        return f"Take {' '.join(changes)}."
    together = next((row for row in report["rows"] if set(row["changes"]) == set(changes)), None)
    if together is None or together["effect"] is None:
        how = "--all-pairs" if len(best) == 2 else "--grid"
        return f"To combine: {' '.join(changes)}. Whether their gains add up was not tried; {how} does."
    verdict = {"helps": "together they help", "hurts": "but together they hurt",
               "noise": "but together they make no significant difference"}[together["effect"]["verdict"]]
    sentence = f"To combine: {' '.join(changes)}; {verdict}"
    return f"{sentence} ({_signed(together['effect'], report['measure'])} {report['measure']['label']})." if (
        together["effect"]["low"] is not None) else f"{sentence}."


def _sum(pair: Mapping[str, Any]) -> str | None:
    """Whether two changes that help add up, where they were also made together."""
    if not pair["said"]:
        return None
    names = " and ".join(map(shown, pair["changes"]))
    digits = pair["digits"]
    told = f"{names}: {pair['together']:+.{digits}f} together, {pair['sum']:+.{digits}f} the sum of both alone"
    if pair["low"] is None:
        return f"{told}."
    if pair["low"] <= 0 <= pair["high"]:
        return f"{told}: they add up, within the uncertainty."
    better = (pair["together"] - pair["sum"] > 0) == pair["higher_is_better"]
    return f"{told}: {'better than the sum' if better else 'worse than the sum'}."


def _orders(report: Mapping[str, Any], rows: Sequence[Row], base: Row) -> str | None:
    """Random orders as a group: how many are better than the base, and how far they lie apart."""
    drawn = [row for row in rows if row["changes"] and row["changes"][0] in report["drawn"] and
             len(row["changes"]) == 1 and row["value"] is not None]
    if len(drawn) < 2:
        return None
    values, higher, digits = np.array([row["value"] for row in drawn]), report["measure"]["higher_is_better"], (
        report["measure"]["digits"])
    better = int(((values > base["value"]) == higher).sum())
    clear = sum(row["effect"] is not None and row["effect"]["verdict"] == "helps" for row in drawn)
    best = drawn[int(values.argmax() if higher else values.argmin())]
    return (f"Of {len(drawn)} random orders {better} {'is' if better == 1 else 'are'} better than {base['name']} "
            f"({clear} significantly); they range from {values.min():.{digits}f} to {values.max():.{digits}f}, their "
            f"median is {np.median(values):.{digits}f}, and {base['name']} has {base['value']:.{digits}f}. The best is "
            f"{best['name']}.")


def _seeds(base: Row, report: Mapping[str, Any]) -> str | None:
    if len(report["seeds"]) > 1 or base["steps"] is None:
        return None
    return ("Each variant was trained once: intervals are for other text alone, and a difference may be that of two "
            "seeds. --seeds 3 takes them into account.")
