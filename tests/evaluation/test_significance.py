"""Bootstrap intervals cover what they promise, and the paired test finds real differences only."""

import numpy as np
import pytest

from chainrule.errors import UsageError
from chainrule.evaluation import significance
from chainrule.evaluation.significance import (
    holm,
    paired_bootstrap,
    pooled,
    studentized,
)


def test_memory_is_bounded_and_the_chunk_size_does_not_change_the_result(monkeypatch):
    values = np.random.default_rng(0).normal(10, 2, size=(50, 1))
    whole = studentized(values, np.ones(50), draws=4000, seed=1)[0]
    monkeypatch.setattr(significance, "AT_ONCE", 100)
    parts = studentized(values, np.ones(50), draws=4000, seed=1)[0]
    assert parts.high - parts.low == pytest.approx(whole.high - whole.low, rel=0.03)


def test_many_units_are_pooled_with_their_neighbors(monkeypatch):
    monkeypatch.setattr(significance, "MOST", 7)
    values = np.arange(40.0).reshape(20, 2)
    found = pooled(values)
    assert found.shape == (7, 2)
    np.testing.assert_array_equal(found.sum(axis=0), values.sum(axis=0))
    np.testing.assert_array_equal(found[0], values[:2].sum(axis=0))


def test_pooling_leaves_the_interval_as_wide():
    values = np.random.default_rng(0).exponential(size=(40_000, 1))
    found = studentized(values, np.ones(40_000), draws=300, seed=0)[0]
    assert found.high - found.low == pytest.approx(2 * 1.96 / 40_000**0.5, rel=0.2)


def test_a_real_difference_is_found_and_has_its_sign():
    rng = np.random.default_rng(0)
    size = rng.integers(5, 40, size=400)
    b = size * rng.normal(5, 1, size=400)
    found = paired_bootstrap(b - 0.1 * size + rng.normal(0, 0.5, size=400), b, size)
    assert found.difference == pytest.approx(-0.1, abs=0.01)
    assert found.low < found.difference < found.high < 0
    assert found.p_value == pytest.approx(1 / 1001)


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
    (([1.0, 2.0], [1.0], [1.0, 1.0]), r"paired_bootstrap units = \[2, 1, 2\], expected three equal counts above 0."),
    (([], [], []), r"paired_bootstrap units = \[0, 0, 0\], expected three equal counts above 0."),
    (([np.inf, 1.0], [1.0, 1.0], [1.0, 1.0]), r"paired_bootstrap losses = inf, expected finite ones. A model"),
])
def test_losses_that_cannot_be_paired_are_refused(losses, message):
    with pytest.raises(UsageError, match=message):
        paired_bootstrap(*losses)


def test_a_bootstrap_of_no_draws_is_refused():
    with pytest.raises(UsageError, match=r"bootstrap = 0, expected at least 1 draw. 0 leaves the interval out."):
        studentized(np.ones((3, 1)), np.ones(3), draws=0)


def losses_per_byte(kind, shape, rng):
    """Of documents: the mean is known, the tails are heavier than a normal's."""
    if kind == "one model":
        return 2 + 0.3 * rng.standard_normal(shape) + 0.3 * (rng.lognormal(0, 0.5, shape) - np.exp(0.125)), 2.0
    return 0.02 * rng.standard_t(3, shape), 0.0  # two models that differ by their seeds alone


@pytest.mark.parametrize("documents", [20, 50, 200])
@pytest.mark.parametrize("kind", ["one model", "difference"])
def test_intervals_over_documents_of_unequal_size_cover_95_percent(kind, documents):
    """1,000 draws of a held-out text: 93 to 97 % of the intervals have the true number in them."""
    rng, hits = np.random.default_rng(documents), 0
    for _ in range(20):
        bytes_R = rng.lognormal(7, 0.7, documents)
        per_byte_RC, truth = losses_per_byte(kind, (documents, 50), rng)
        found = studentized(per_byte_RC * bytes_R[:, None], bytes_R, draws=600, seed=int(rng.integers(1 << 30)))
        hits += sum(each.low <= truth <= each.high for each in found)
    assert 930 <= hits <= 970


def test_the_interval_and_the_p_value_agree():
    rng = np.random.default_rng(0)
    found = studentized(rng.normal(0.15, 1, (60, 200)), np.ones(60), draws=999, seed=1)
    assert {(each.low > 0 or each.high < 0) == (each.p_value <= 0.05) for each in found} == {True}
    assert 5 < sum(each.p_value <= 0.05 for each in found) < 195


def test_the_t_value_of_a_resample_is_the_definition():
    """One column, by a loop: the same draws, the standard error of a ratio written out."""
    rng = np.random.default_rng(3)
    over, under = rng.exponential(size=9), rng.uniform(1, 2, size=9)

    def ratio_and_error(index):
        a, b = over[index], under[index]
        theta = a.sum() / b.sum()
        return theta, np.sqrt(9 / 8 * ((a - theta * b) ** 2).sum()) / b.sum()

    theta, error = ratio_and_error(np.arange(9))
    drawn = [ratio_and_error(index) for index in np.random.default_rng(5).integers(0, 9, size=(200, 9))]
    t = np.sort([abs(each - theta) / its_error for each, its_error in drawn])
    found = studentized(over[:, None], under, draws=200, seed=5)[0]
    assert found.difference == pytest.approx(theta)
    assert found.high - theta == pytest.approx(t[189] * error) and theta - found.low == pytest.approx(t[189] * error)


def test_a_single_unit_has_no_interval_and_no_p_value():
    found = studentized(np.array([[2.0]]), np.array([1.0]))[0]
    assert (found.low, found.high, found.p_value) == (-np.inf, np.inf, 1.0)


def test_units_that_are_all_alike_leave_no_doubt():
    found = studentized(np.full((5, 1), 2.0), np.ones(5), draws=99)[0]
    assert (found.low, found.high, found.p_value) == (2.0, 2.0, 0.01)


def test_many_comparisons_are_corrected_as_holm_did():
    """By hand: 4 · 0.005, 3 · 0.01, 2 · 0.03, then the largest so far."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == [] and holm([0.7, 0.8]) == [1.0, 1.0]


def test_columns_may_have_denominators_of_their_own():
    """Each is then what it would be alone: the resamples are the same."""
    rng = np.random.default_rng(3)
    over, under = rng.normal(2, 1, (30, 2)), rng.uniform(1, 5, (30, 2))
    found = studentized(over, under, draws=300, seed=7)
    for column in range(2):
        alone = studentized(over[:, [column]], under[:, column], draws=300, seed=7)[0]
        for name in ("difference", "low", "high", "p_value"):
            assert getattr(found[column], name) == pytest.approx(getattr(alone, name), rel=1e-12)
