"""Ranking by a measure: exact tests where all exchanges can be tried, and seeds that are averaged."""

import itertools

import numpy as np
import pytest

from chainrule.evaluation.ranking import Answers, Entry, compared, intervals
from chainrule.recipe.registry import build

ACCURACY = build("evaluation/measures", "accuracy")
F1 = build("evaluation/measures", "micro_f1")
SPEARMAN = build("evaluation/measures", "spearman")


def entry(name, *rights):
    return Entry(name, tuple(np.stack([right, np.ones(len(right))], axis=1).astype(float) for right in rights))


def test_p_of_few_units_is_that_of_all_exchanges():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 9), rng.integers(0, 2, 9)
    gap = abs(a.mean() - b.mean())
    signs = np.array(list(itertools.product([1, -1], repeat=9)))
    expected = (np.abs((signs * (a - b)).mean(1)) >= gap - 1e-12).mean()
    [pair] = compared([entry("a", a), entry("b", b)], ACCURACY)
    assert pair["p_value"] == pytest.approx(expected) and pair["difference"] == pytest.approx(a.mean() - b.mean())


def test_a_sampled_p_is_near_the_exact_one():
    """Accuracy's exact paired test is the sign test on the units where the two differ."""
    from math import comb

    a, b = np.ones(60), np.ones(60)
    a[:4], b[4:18] = 0, 0  # 4 against 14
    exact = 2 * sum(comb(18, k) for k in range(5)) / 2**18
    [pair] = compared([entry("a", a), entry("b", b)], ACCURACY, draws=20_000)
    assert pair["p_value"] == pytest.approx(exact, abs=0.004) and pair["significant"]
    assert pair["low"] < 10 / 60 < pair["high"]


def test_equal_models_do_not_differ():
    right = np.arange(40) % 3 == 0
    [pair] = compared([entry("a", right), entry("b", right)], ACCURACY)
    assert pair["p_value"] == 1.0 and (pair["low"], pair["high"]) == (0, 0) and not pair["significant"]


@pytest.mark.parametrize("measure", [F1, SPEARMAN], ids=["f1", "spearman"])
def test_a_clear_difference_is_significant_and_lies_in_its_interval(measure):
    rng = np.random.default_rng(3)
    truth = rng.uniform(1, 2, 80)
    near, far = (np.stack([truth + rng.normal(0, noise, 80), truth], axis=1) for noise in (0.05, 1.0))
    if measure is F1:
        near, far = (np.stack([hits, np.ones(80), np.ones(80)], axis=1) for hits in (np.ones(80), truth > 1.5))
    [pair] = compared([Entry("near", (near,)), Entry("far", (far,))], measure)
    assert pair["significant"] and pair["low"] > 0 and pair["low"] <= pair["difference"] <= pair["high"]
    [one, other] = intervals([Entry("near", (near,)), Entry("far", (far,))], measure)
    assert one[0] <= measure.value(near) <= one[1] and other[0] < other[1]


def test_seeds_are_averaged_and_each_counts_alike():
    rng = np.random.default_rng(4)
    seeds = [rng.integers(0, 2, 30) for _ in range(3)]
    two = [rng.integers(0, 2, 30) for _ in range(2)]
    [pair] = compared([entry("three", *seeds), entry("two", *two)], ACCURACY)
    assert pair["difference"] == pytest.approx(np.mean(seeds) - np.mean(two))
    [interval] = intervals([entry("three", *seeds)], ACCURACY)
    assert interval[0] < np.mean(seeds) < interval[1]


def test_three_units_have_no_interval_and_no_significance():
    one, other = entry("one", np.ones(3)), entry("other", np.zeros(3))
    assert intervals([one], ACCURACY) == [None]
    [pair] = compared([one, other], ACCURACY)
    assert pair["low"] is None and not pair["significant"]


def test_pairs_are_corrected_together():
    rng = np.random.default_rng(5)
    entries = [entry(str(n), rng.integers(0, 2, 50)) for n in range(5)]
    pairs = compared(entries, ACCURACY)
    assert len(pairs) == 10 and all(pair["p_holm"] >= pair["p_value"] for pair in pairs)


def test_bootstrap_intervals_of_f1_cover_about_as_often_as_they_say():
    rng, held = np.random.default_rng(6), 0
    for _ in range(60):
        hits = rng.random(120) < 0.7
        table = np.stack([hits, np.ones(120), np.ones(120)], axis=1).astype(float)
        [(low, high)] = intervals([Entry("x", (table,))], F1, draws=300)
        held += low <= 0.7 <= high
    assert held >= 51  # 95 % of 60 are 57; 50 or fewer would come by chance once in 2,000 times


def test_units_without_an_answer_are_known():
    assert Answers(np.array([[1.0, 1.0], [np.nan, 1.0]])).known.tolist() == [True, False]
