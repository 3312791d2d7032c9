"""Which to take: a few sentences from the numbers alone, none of which says more than the intervals support."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from chainrule.experiments.standings import hardly_trained

Row = Mapping[str, Any]
CLEAR = 1.1


def advice(rows: Sequence[Row], pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Quality first, then what the quickest, smallest and soonest trained models cost in quality."""
    models = [row for row in rows if row["kind"] == "model" and row["status"] == "ok" and row["comparable"]]
    if not models:
        return ["No model can be recommended: none has a number that compares."]
    best = min(models, key=lambda row: row["bits_per_byte"])
    by_name = {row["name"]: row for row in models}
    told = {frozenset((pair["a"], pair["b"])) for pair in pairs if pair["significant"]
            and abs(pair["difference"]) > _seeds(by_name.get(pair["a"]), by_name.get(pair["b"]))}
    level = [row["name"] for row in models if row is not best and frozenset((row["name"], best["name"])) not in told]
    return [sentence for sentence in (_quality(best, models, level), _more_budget(models),
                                      _against_compressors(best, rows), _cheaper(best, models, level)) if sentence]


def _seeds(*rows: Row | None) -> float:
    """How far apart two rows may be by their seeds alone: two standard errors of the difference of their means."""
    known = [row for row in rows if row and row["spread"] is not None]
    return 2 * math.sqrt(sum(row["spread"] ** 2 / len(row["seeds"]) for row in known))


def _quality(best: Row, models: Sequence[Row], level: Sequence[str]) -> str:
    number = f"{best['bits_per_byte']:.3f} bits per byte"
    if len(models) == 1:
        return f"{best['name']} is the only model with a number that compares: {number}."
    if not level:
        return (f"If quality matters most, take {best['name']}: {number}, and its distance to every other model is "
                "more than chance on this text.")
    return (f"If quality matters most, {best['name']} has the lowest number, {number}, but no difference between it "
            f"and {_listed(level)} can be told on this text.")


def _more_budget(models: Sequence[Row]) -> str | None:
    """What was hardly trained has no rank."""
    few = [f"{row['name']} ({row['steps']})" for row in models if hardly_trained(row)]
    return f"A larger budget may change the order: {_listed(few)} made too few steps to learn much." if few else None


def _against_compressors(best: Row, rows: Sequence[Row]) -> str | None:
    """A model that a general compressor equals has not learned much."""
    floors = [row for row in rows if row["kind"] == "compressor"]
    floor = min(floors, key=lambda row: row["bits_per_byte"], default=None)
    if floor is None or best["interval"] is None or best["interval"][1] < floor["bits_per_byte"]:
        return None
    number = f"{floor['bits_per_byte']:.3f} bits per byte"
    return f"No model is surely better than the compressor {floor['name']} ({number})."


def _cheaper(best: Row, models: Sequence[Row], level: Sequence[str]) -> str | None:
    """For whom speed, memory or time matters most; a lead of less than CLEAR, or of a second, is not worth a word."""
    wishes = (("writing speed", "generation_tokens_per_second", max, "{:,.0f} tokens a second"),
              ("memory in training", "peak_memory", min, "{0:,.0f} MB"),
              ("training time", "training_seconds", min, "{:,.1f} s"))
    chosen: dict[str, list[str]] = {}
    for wish, key, best_of, form in wishes:
        values = sorted((row["measured"][key] for row in models), reverse=best_of is max)
        row = best_of(models, key=lambda row: row["measured"][key])
        near = key == "training_seconds" and abs(values[1] - values[0]) < 1 if len(values) > 1 else True
        if near or max(values[:2]) < CLEAR * min(values[:2]):
            continue
        value = row["measured"][key] / (1e6 if key == "peak_memory" else 1)
        chosen.setdefault(row["name"], []).append(f"{wish} ({_spoken(form, value)})")
    parts = [f"{_listed(wishes_of)}, take {name}{_price(name, best, models, level)}"
             for name, wishes_of in chosen.items()]
    return f"If it is {'; if it is '.join(parts)}." if parts else None


def _spoken(form: str, value: float) -> str:
    told = form.format(value)
    return "less than 0.1 s" if told == "0.0 s" else told


def _price(name: str, best: Row, models: Sequence[Row], level: Sequence[str]) -> str:
    if name == best["name"]:
        return " as well"
    if name in level:
        return f", which cannot be told from {best['name']} in quality"
    more = next(row for row in models if row["name"] == name)["bits_per_byte"] - best["bits_per_byte"]
    return f", which costs {more:.3f} bits per byte"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
