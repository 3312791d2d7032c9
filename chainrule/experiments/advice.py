"""Recommendations: a few sentences from the numbers, none of which claims more than the intervals support."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from chainrule.experiments.standings import undertrained

Row = Mapping[str, Any]
CLEAR = 1.1


def advice(rows: Sequence[Row], pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The best model first, then how much quality the fastest and smallest models give up."""
    models = [row for row in rows if row["kind"] == "model" and row["status"] == "ok" and row["comparable"]]
    if not models:
        return ["No model can be recommended: none has comparable bits per byte."]
    best = min(models, key=lambda row: row["bits_per_byte"])
    by_name = {row["name"]: row for row in models}
    clear = {frozenset((pair["a"], pair["b"])) for pair in pairs if pair["significant"]
            and abs(pair["difference"]) > _seeds(by_name.get(pair["a"]), by_name.get(pair["b"]))}
    level = [row["name"] for row in models if row is not best and frozenset((row["name"], best["name"])) not in clear]
    return [sentence for sentence in (_quality(best, models, level), _more_budget(models),
                                      _against_compressors(best, rows), _cheaper(best, models, level)) if sentence]


def _seeds(*rows: Row | None) -> float:
    """How much two rows may differ by their seeds alone: two standard errors of the difference of their means."""
    known = [row for row in rows if row and row["spread"] is not None]
    return 2 * math.sqrt(sum(row["spread"] ** 2 / len(row["seeds"]) for row in known))


def _quality(best: Row, models: Sequence[Row], level: Sequence[str]) -> str:
    number = f"{best['bits_per_byte']:.3f} bits per byte"
    if len(models) == 1:
        return f"{best['name']} is the only model with comparable bits per byte: {number}."
    if not level:
        return (f"If quality matters most, take {best['name']}: {number}, significantly better than every other model "
                "on this text.")
    return (f"If quality matters most, {best['name']} has the lowest number, {number}, but its difference to "
            f"{_listed(level)} is not significant on this text.")


def _more_budget(models: Sequence[Row]) -> str | None:
    """Undertrained models cannot be ranked."""
    few = [f"{row['name']} ({row['steps']})" for row in models if undertrained(row)]
    return f"A larger budget may change the ranking: {_listed(few)} made too few steps to learn much." if few else None


def _against_compressors(best: Row, rows: Sequence[Row]) -> str | None:
    """Says if no model is better than a general-purpose compressor."""
    floors = [row for row in rows if row["kind"] == "compressor"]
    floor = min(floors, key=lambda row: row["bits_per_byte"], default=None)
    if floor is None or best["interval"] is None or best["interval"][1] < floor["bits_per_byte"]:
        return None
    number = f"{floor['bits_per_byte']:.3f} bits per byte"
    return f"No model is significantly better than the compressor {floor['name']} ({number})."


def _cheaper(best: Row, models: Sequence[Row], level: Sequence[str]) -> str | None:
    """The best models by speed, memory and training time; a lead below CLEAR, or below a second, is not mentioned."""
    criteria = (("writing speed", "generation_tokens_per_second", max, "{:,.0f} tokens a second"),
              ("memory in training", "peak_memory", min, "{0:,.0f} MB"),
              ("training time", "training_seconds", min, "{:,.1f} s"))
    chosen: dict[str, list[str]] = {}
    for criterion, key, best_of, form in criteria:
        values = sorted((row["measured"][key] for row in models), reverse=best_of is max)
        row = best_of(models, key=lambda row: row["measured"][key])
        near = key == "training_seconds" and abs(values[1] - values[0]) < 1 if len(values) > 1 else True
        if near or max(values[:2]) < CLEAR * min(values[:2]):
            continue
        value = row["measured"][key] / (1e6 if key == "peak_memory" else 1)
        chosen.setdefault(row["name"], []).append(f"{criterion} ({_formatted(form, value)})")
    parts = [f"{_listed(reasons)}, take {name}{_price(name, best, models, level)}"
             for name, reasons in chosen.items()]
    return f"If it is {'; if it is '.join(parts)}." if parts else None


def _formatted(form: str, value: float) -> str:
    text = form.format(value)
    return "less than 0.1 s" if text == "0.0 s" else text


def _price(name: str, best: Row, models: Sequence[Row], level: Sequence[str]) -> str:
    if name == best["name"]:
        return " as well"
    if name in level:
        return f", whose quality does not differ significantly from that of {best['name']}"
    more = next(row for row in models if row["name"] == name)["bits_per_byte"] - best["bits_per_byte"]
    return f", which costs {more:.3f} bits per byte"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
