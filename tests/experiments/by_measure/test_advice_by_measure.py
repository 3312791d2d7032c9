"""Advice by a measure claims no more than the tests support, and 'none yet' where a rule is as good."""

from chainrule.experiments.by_measure.advice import advice
from chainrule.experiments.by_measure.rows import empty_row
from chainrule.recipe.registry import build

ACCURACY = build("evaluation/measures", "accuracy")


def row(name, value, kind="model", **more):
    return empty_row(name, kind, None) | {"value": value, "disk_bytes": 1_000_000, **more}


def pair(a, b, difference, significant):
    return {"a": a, "b": b, "difference": difference, "significant": significant}


def test_a_clear_winner_is_taken():
    rows = [row("good", 0.9), row("bad", 0.5), row("rule", 0.2, "baseline")]
    pairs = [pair("good", "bad", 0.4, True), pair("good", "rule", 0.7, True), pair("bad", "rule", 0.3, True)]
    assert advice(rows, pairs, ACCURACY) == [
        "If quality matters most, take good: accuracy 0.9000, significantly better than every other model."]


def test_models_that_do_not_beat_the_rule_are_not_recommended():
    rows = [row("good", 0.25), row("rule", 0.2, "baseline")]
    [only] = advice(rows, [pair("good", "rule", 0.05, False)], ACCURACY)
    assert only.startswith("None yet: no model is significantly better than the rule (0.2000 accuracy).")


def test_an_unclear_lead_is_told_and_the_smaller_model_named():
    rows = [row("good", 0.9), row("small", 0.89, disk_bytes=10_000)]
    told = advice(rows, [pair("good", "small", 0.01, False)], ACCURACY)
    assert "but its difference to small is not significant" in told[0]
    assert told[1].startswith("If size matters, take small: 0.0 MB instead of 1.0")


def test_a_difference_within_the_seeds_is_not_clear():
    seeds = [{"seed": n, "value": 0.0, "run": ""} for n in range(2)]
    rows = [row("good", 0.9, spread=0.1, seeds=seeds), row("bad", 0.85, spread=0.1, seeds=seeds)]
    assert "is not significant" in advice(rows, [pair("good", "bad", 0.05, True)], ACCURACY)[0]


def test_nothing_measured_gives_no_advice():
    assert advice([row("failed", None)], [], ACCURACY) == ["No model can be recommended: none has a number."]
