"""Every measure: units drawn again and exchanged give what the plain value gives; and each by its definition."""

import numpy as np
import pytest

from chainrule.evaluation.measures._measure import OfSums
from chainrule.recipe.registry import build, names

KIND = "evaluation/measures"


def measure(name):
    return build(KIND, name)


def table(seed, rows=17):
    """Whole numbers in as many columns as any measure reads (BLEU's ten), more in each than in the one before it."""
    return np.cumsum(np.random.default_rng(seed).integers(1, 10, (rows, 10)), axis=1).astype(float)


@pytest.mark.parametrize("name", names(KIND))
def test_drawn_units_give_the_value_of_the_units_that_were_drawn(name):
    rng, own = np.random.default_rng(1), table(0)
    times = rng.multinomial(17, np.full(17, 1 / 17), size=5).astype(float)
    found = measure(name).drawn(own, times)
    expected = [measure(name).value(np.repeat(own, each.astype(int), axis=0)) for each in times]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", names(KIND))
def test_exchanged_units_give_the_value_of_the_mixed_table(name):
    one, other = table(0), table(1)
    swaps = np.random.default_rng(2).integers(0, 2, (5, 17)).astype(float)
    found = measure(name).exchanged(one, other, swaps)
    expected = [measure(name).value(np.where(each[:, None] > 0, other, one)) for each in swaps]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", names(KIND))
def test_pooling_keeps_the_value(name):
    own, each = table(0, rows=53), measure(name)
    pooled = each.pooled(own, 7)
    assert len(pooled) == (7 if isinstance(each, OfSums) else 53)
    assert each.value(pooled) == pytest.approx(each.value(own), rel=1e-12)


@pytest.mark.parametrize("name", names(KIND))
def test_a_measure_says_how_it_is_shown(name):
    each = measure(name)
    assert each.label and each.digits > 0 and isinstance(each.higher, bool) and each.bounds[0] < each.bounds[1]


def test_accuracy_is_the_share_that_is_right_with_wilsons_interval():
    answers = np.array([[1.0, 1.0]] * 8 + [[0.0, 1.0]] * 2)
    assert measure("accuracy").value(answers) == 0.8
    # 8 of 10: 0.490 to 0.943, as Newcombe 1998 and R's prop.test(8, 10, correct=FALSE) have it
    assert measure("accuracy").interval(answers) == pytest.approx((0.4902, 0.9433), abs=5e-5)
    low, high = measure("accuracy").interval(np.ones((3, 2)))
    assert low == pytest.approx(0.4385, abs=5e-5) and high == 1.0  # three of three is not certainty


def test_micro_f1_is_the_harmonic_mean_of_precision_and_recall():
    counts = np.array([[1.0, 2.0, 1.0], [0.0, 1.0, 3.0], [2.0, 2.0, 2.0]])  # hits, given, true
    precision, recall = 3 / 5, 3 / 6
    assert measure("micro_f1").value(counts) == pytest.approx(2 * precision * recall / (precision + recall))


def test_spearman_needs_only_the_ranks():
    scores = np.array([0.1, 0.4, 0.2, 0.9])
    assert measure("spearman").value(np.stack([scores, scores**3], axis=1)) == pytest.approx(1.0)
    assert measure("spearman").value(np.stack([scores, -scores], axis=1)) == pytest.approx(-1.0)
    assert np.isnan(measure("spearman").value(np.array([[1.0, 2.0]])))
