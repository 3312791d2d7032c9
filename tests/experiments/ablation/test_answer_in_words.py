"""The answer in words on made-up numbers: what helps, what hurts, what is noise, what to combine."""

from chainrule.experiments.ablation.rows import empty_row
from chainrule.experiments.ablation.words import answer, chosen


def row(name, change=None, value=2.0, difference=None, half=0.01, verdict="noise"):
    effect = None if difference is None else {"difference": difference, "low": difference - half,
                                              "high": difference + half, "significant": verdict != "noise",
                                              "verdict": verdict}
    changes = change if isinstance(change, list) else [change] if change else []
    return empty_row(name, changes) | {"value": value, "effect": effect, "steps": 100}


def said(*rows, **more):
    measure = {"label": "bits/byte", "higher_is_better": False, "digits": 3} | more.pop("measure", {})
    return answer({"base": "net", "measure": measure, "seeds": [0, 1, 2], "combined": [], "drawn": [],
                   "rows": [row("net"), *rows]} | more)


GLU = row("f=geglu", "model.f=geglu", 1.9, -0.1, verdict="helps")
MORE = row("f=swiglu", "model.f=swiglu", 1.88, -0.12, verdict="helps")
RMS = row("norm=rms", "model.norm=rms", 1.95, -0.05, verdict="helps")
BAD = row("norm=none", "model.norm=none", 2.5, 0.5, verdict="hurts")
SAME = row("head=untied", "model.head=untied", 2.001, 0.001, half=0.02)


def test_what_helps_what_hurts_and_what_is_noise():
    assert said(GLU, BAD, SAME) == [
        "Helps here: f=geglu (-0.100, 95 % -0.110 to -0.090 bits/byte).",
        "Hurts: norm=none (+0.500, 95 % +0.490 to +0.510 bits/byte).",
        "Noise, as far as this can tell: head=untied. No significant difference from net. A difference of up to 0.021 "
        "bits/byte would not be seen.",
        "Take model.f=geglu."]


def test_the_best_value_of_each_option_that_helps_is_combined():
    assert said(GLU, RMS, MORE, BAD)[2] == (
        "To combine: model.f=swiglu model.norm=rms. Whether their gains add up was not tried; --all-pairs does.")
    assert [each["name"] for each in chosen([GLU, RMS, MORE])] == ["f=swiglu", "norm=rms"]


def test_a_combination_that_was_trained_is_held_against_the_sum():
    both = row("f=swiglu + norm=rms", ["model.f=swiglu", "model.norm=rms"], 1.83, -0.17, verdict="helps")
    pair = {"changes": both["changes"], "together": -0.17, "sum": -0.17, "low": -0.01, "high": 0.01, "said": True,
            "higher_is_better": False, "digits": 3}
    words = said(MORE, RMS, both, combined=[pair])
    assert words[1:] == [
        "To combine: model.f=swiglu model.norm=rms; together they help (-0.170, 95 % -0.180 to -0.160 bits/byte).",
        "f=swiglu and norm=rms: -0.170 together, -0.170 the sum of both alone: they add up, within the uncertainty."]
    worse = pair | {"together": -0.1, "low": 0.05, "high": 0.09}
    assert said(MORE, RMS, both, combined=[worse])[-1].endswith("the sum of both alone: worse than the sum.")
    assert said(SAME, combined=[pair | {"said": False}])[-1].startswith("Keep net as it is")


def test_nothing_that_helps_leaves_the_base_as_it_is():
    assert said(BAD, SAME)[-1] == "Keep net as it is: no change alone helps significantly."


def test_one_seed_is_said_to_be_one():
    assert said(GLU, seeds=[0])[-1].startswith("Each variant was trained once: intervals are for other text alone")


def test_without_a_base_or_changes_nothing_is_claimed():
    failed = empty_row("net", []) | {"status": "failed", "why": "out of memory."}
    assert said(GLU, rows=[failed, GLU]) == ["Nothing can be said: the base, net, failed: out of memory."]
    assert said(empty_row("f=x", ["model.f=x"])) == ["Nothing can be said: every change failed."]


def test_random_orders_are_summed_up():
    values = [1.8, 2.1, 2.2, 2.4, 2.6]
    rows = [row(f"pattern={n}", f"model.pattern={n}", value, value - 2, verdict="helps" if value < 2 else "hurts")
            for n, value in enumerate(values)]
    words = said(*rows, drawn=[each["changes"][0] for each in rows])
    assert words[-1] == ("Of 5 random orders 1 is better than net (1 significantly); they range from 1.800 to 2.600, "
                         "their median is 2.200, and net has 2.000. The best is pattern=0.")


def test_where_more_is_better_the_best_order_is_the_highest():
    rows = [row(f"pattern={n}", f"model.pattern={n}", value, value - 2) for n, value in enumerate([1.8, 2.5])]
    words = said(*rows, drawn=[each["changes"][0] for each in rows], measure={"higher_is_better": True})
    assert words[-1].endswith("The best is pattern=1.") and "Of 2 random orders 1 is better" in words[-1]
