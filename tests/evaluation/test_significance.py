"""Bootstrap intervals cover what they promise, and the paired test finds real differences only."""

import numpy as np
import pytest

from chainrule.errors import UsageError
from chainrule.evaluation import significance
from chainrule.evaluation.significance import paired_bootstrap, percentile_interval, pooled, resampled_sums


def test_a_resample_is_a_sum_of_rows_drawn_with_replacement():
    """With powers of four in the rows, the digits of a sum show how often each row was drawn."""
    values = np.stack([4.0 ** np.arange(3), np.ones(3)], axis=1)
    sums = resampled_sums(values, draws=300, seed=0)
    drawn = np.array([[int(total) // 4**row % 4 for row in range(3)] for total in sums[:, 0]])
    assert (drawn.sum(axis=1) == 3).all()
    assert (sums[:, 1] == 3).all()
    assert len(np.unique(drawn, axis=0)) == 10  # all ways to draw 3 of 3 with replacement
    np.testing.assert_allclose(drawn.mean(axis=0), 1, atol=0.2)


def test_memory_is_bounded_and_the_share_at_a_time_does_not_change_the_law(monkeypatch):
    monkeypatch.setattr(significance, "AT_ONCE", 100)
    values = np.random.default_rng(0).normal(10, 2, size=(50, 1))
    sums = resampled_sums(values, draws=4000, seed=1)
    np.testing.assert_allclose(sums.mean(), values.sum(), rtol=0.01)
    np.testing.assert_allclose(sums.std(), values.std() * 50**0.5, rtol=0.05)


def test_an_interval_covers_the_truth_about_as_often_as_it_says():
    """Means of 80 exponential numbers, 300 times: 95 % intervals should miss about 15 to 25 times, never 45."""
    rng = np.random.default_rng(0)
    missed = 0
    for trial in range(300):
        sums = resampled_sums(np.stack([rng.exponential(size=80), np.ones(80)], axis=1), draws=400, seed=trial)
        low, high = percentile_interval(sums[:, 0] / sums[:, 1])
        missed += not low <= 1 <= high
    assert 5 <= missed <= 45


def test_percentiles_of_infinite_numbers_are_numbers():
    assert percentile_interval(np.array([1.0] * 50 + [np.inf] * 50)) == (1.0, np.inf)


def test_many_units_are_pooled_with_their_neighbors(monkeypatch):
    monkeypatch.setattr(significance, "MOST_GROUPS", 7)
    values = np.arange(40.0).reshape(20, 2)
    found = pooled(values)
    assert found.shape == (7, 2)
    np.testing.assert_array_equal(found.sum(axis=0), values.sum(axis=0))
    np.testing.assert_array_equal(found[0], values[:2].sum(axis=0))


def test_pooling_leaves_the_interval_as_wide():
    values = np.stack([np.random.default_rng(0).exponential(size=40_000), np.ones(40_000)], axis=1)
    sums = resampled_sums(values, draws=300, seed=0)
    low, high = percentile_interval(sums[:, 0] / sums[:, 1])
    assert high - low == pytest.approx(2 * 1.96 / 40_000**0.5, rel=0.2)


def test_a_real_difference_is_found_and_has_its_sign():
    rng = np.random.default_rng(0)
    size = rng.integers(5, 40, size=400)
    b = size * rng.normal(5, 1, size=400)
    found = paired_bootstrap(b - 0.1 * size + rng.normal(0, 0.5, size=400), b, size)
    assert found.difference == pytest.approx(-0.1, abs=0.01)
    assert found.low < found.difference < found.high < 0
    assert found.p_value == pytest.approx(2 / 1001)


def test_equal_models_are_rarely_called_different():
    rng = np.random.default_rng(0)
    pairs = rng.normal(5, 1, size=(100, 2, 60))
    p_values = [paired_bootstrap(a, b, np.ones(60), draws=200, seed=i).p_value for i, (a, b) in enumerate(pairs)]
    assert sum(p < 0.05 for p in p_values) <= 15


def test_a_model_does_not_differ_from_itself():
    loss = np.random.default_rng(0).normal(5, 1, 60)
    found = paired_bootstrap(loss, loss, np.ones(60))
    assert (found.difference, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(("losses", "message"), [
    (([1.0, 2.0], [1.0], [1.0, 1.0]), r"paired_bootstrap units = \(2, 1, 2\), expected three equal counts above 0."),
    (([], [], []), r"paired_bootstrap units = \(0, 0, 0\), expected three equal counts above 0."),
    (([np.inf, 1.0], [1.0, 1.0], [1.0, 1.0]), r"paired_bootstrap losses = inf, expected finite ones. A model"),
])
def test_what_cannot_be_paired_is_refused(losses, message):
    with pytest.raises(UsageError, match=message):
        paired_bootstrap(*losses)


def test_a_bootstrap_of_no_draws_is_refused():
    with pytest.raises(UsageError, match=r"bootstrap = 0, expected at least 1 draw. 0 leaves the interval out."):
        resampled_sums(np.ones((3, 1)), draws=0, seed=0)
