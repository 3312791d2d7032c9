"""Recommendations: a few sentences from the numbers, none of which claims more than the intervals support."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from chainrule.experiments.by_tokens import LOSSLESS, Ranking
from chainrule.experiments.convergence import unconverged

Row = Mapping[str, Any]
CLEAR = 1.1


def advice(rows: Sequence[Row], ranking: Ranking) -> list[str]:
    """The best model first, then how much quality the fastest and smallest models give up.

    None is recommended where all of them lose to a general-purpose compressor.
    """
    models = [each.row for each in ranking.members]
    if not models:
        return [_no_model(rows)]
    best, level = models[0], _level(models, ranking)
    compressors = [row for row in rows if row["kind"] == "compressor"]
    floor = min(compressors, key=lambda row: row["bits_per_byte"], default=None)
    if floor is not None and best["bits_per_byte"] >= floor["bits_per_byte"]:
        mixed = next((row for row in rows if row["kind"] == "mixture"), None)
        said = [_none_yet(best, floor, models, mixed), _order(best, models, level, ranking.by), _more_budget(models)]
    else:
        said = [_quality(best, models, level, ranking.by), _more_budget(models), _against(best, floor),
                _cheaper(best, models, level, ranking.by)]
    return [sentence for sentence in said if sentence]


def _no_model(rows: Sequence[Row]) -> str:
    if any(row["status"] == "ok" for row in rows if row["kind"] == "model"):
        return ("No model can be recommended: their tokens differ and lose text, so neither bits per byte nor "
                f"perplexity compares. Try --tokenizer {LOSSLESS} or byte_pair, which lose none.")
    return "No model can be recommended: none gave a number."


def _level(models: Sequence[Row], ranking: Ranking) -> list[str]:
    """Models whose difference to the best is not significant, or no larger than that of two seeds."""
    by_name = {row["name"]: row for row in models}
    clear = {frozenset((pair["a"], pair["b"])) for pair in ranking.pairs if pair["significant"]
             and abs(pair["difference"]) > _seeds(by_name.get(pair["a"]), by_name.get(pair["b"]))}
    return [row["name"] for row in models[1:] if frozenset((row["name"], models[0]["name"])) not in clear]


def _seeds(*rows: Row | None) -> float:
    """How much two rows may differ by their seeds alone: two standard errors of the difference of their means."""
    known = [row for row in rows if row and row["spread"] is not None]
    return 2 * math.sqrt(sum(row["spread"] ** 2 / len(row["seeds"]) for row in known))


def _number(row: Row, by: str) -> str:
    return f"{row['bits_per_byte']:.3f} bits per byte" if by == "bits_per_byte" else f"perplexity {row[by]:,.1f}"


def _quality(best: Row, models: Sequence[Row], level: Sequence[str], by: str) -> str:
    if len(models) == 1:
        return f"{best['name']} is the only model with a comparable number: {_number(best, by)}."
    if not level:
        return (f"If quality matters most, take {best['name']}: {_number(best, by)}, significantly better than every "
                f"other model on this text{_of_one_seed(models)}.")
    return f"If quality matters most: {_order(best, models, level, by)}"


def _order(best: Row, models: Sequence[Row], level: Sequence[str], by: str) -> str | None:
    """Which model has the lowest number, without a word on whether to take it."""
    if len(models) == 1:
        return None
    if not level:
        return (f"{best['name']} is significantly better than every other model on this text{_of_one_seed(models)}: "
                f"{_number(best, by)}.")
    return (f"{best['name']} has the lowest number, {_number(best, by)}, but its difference to {_listed(level)} is not "
            "significant on this text.")


def _of_one_seed(models: Sequence[Row]) -> str:
    """Whether another seed would change a ranking of models that are trained in steps is not known from one."""
    once = any(row["steps"] is not None and len(row["seeds"]) < 2 for row in models)
    return " (of one seed; --seeds 3 shows how much a seed changes)" if once else ""


def _more_budget(models: Sequence[Row]) -> str | None:
    """Models that had much left to learn cannot be ranked."""
    few = [row["name"] for row in models if unconverged(row)]
    return (f"A larger --budget may change the ranking: {_listed(few)} {'was' if len(few) == 1 else 'were'} far from "
            "converged." if few else None)


def _none_yet(best: Row, floor: Row, models: Sequence[Row], mixed: Row | None) -> str:
    """Every model loses to a compressor; what to try is what has not been tried."""
    tried = ["a larger --budget"] if any(unconverged(row) for row in models) else []
    tried.append("more text to train on")
    counted = [row["steps"] is None for row in models]
    if all(counted):
        tried.append("a model that is trained in steps, such as lstm or transformer")
    elif not any(counted):
        tried.append("ngram, which counts the text in seconds")
    which = "the only model" if len(models) == 1 else "the best of the models"
    return (f"None yet: the compressor {floor['name']} needs {floor['bits_per_byte']:.3f} bits per byte, and "
            f"{best['name']}, {which}, {best['bits_per_byte']:.3f}. {_only(mixed, floor)}Try {', or '.join(tried)}.")


def _only(mixed: Row | None, floor: Row) -> str:
    """A word on the mixture, where that alone is better than the compressor."""
    if mixed is None or mixed["bits_per_byte"] >= floor["bits_per_byte"]:
        return ""
    return f"Only the {mixed['name']} needs less, {mixed['bits_per_byte']:.3f}. "


def _against(best: Row, floor: Row | None) -> str | None:
    """Says if the best model may be no better than a general-purpose compressor."""
    if floor is None or best["interval"] is None or best["interval"][1] < floor["bits_per_byte"]:
        return None
    return (f"{best['name']} is not significantly better than the compressor {floor['name']} "
            f"({floor['bits_per_byte']:.3f} bits per byte).")


def _cheaper(best: Row, models: Sequence[Row], level: Sequence[str], by: str) -> str | None:
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
    parts = [f"{_listed(reasons)}, take {name}{_price(name, best, models, level, by)}"
             for name, reasons in chosen.items()]
    return f"If it is {'; if it is '.join(parts)}." if parts else None


def _formatted(form: str, value: float) -> str:
    text = form.format(value)
    return "less than 0.1 s" if text == "0.0 s" else text


def _price(name: str, best: Row, models: Sequence[Row], level: Sequence[str], by: str) -> str:
    if name == best["name"]:
        return " as well"
    if name in level:
        return f", whose quality does not differ significantly from that of {best['name']}"
    row = next(row for row in models if row["name"] == name)
    if by == "perplexity":
        return f", which has {_number(row, by)}"
    return f", which costs {row['bits_per_byte'] - best['bits_per_byte']:.3f} bits per byte"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
