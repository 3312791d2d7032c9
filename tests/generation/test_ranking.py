"""The largest entries of wide rows, with many ties, against sorting everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.generation.ranking import keep, largest


def rows(seed, width, ties):
    rng = np.random.default_rng(seed)
    x_BV = rng.normal(size=(3, width))
    if ties:
        x_BV = np.round(x_BV)
    return np.where(rng.random(x_BV.shape) < 0.2, -np.inf, x_BV)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 400), st.integers(1, 60), st.booleans())
def test_the_largest_are_what_sorting_puts_first(seed, width, count, ties):
    x_BV = rows(seed, width, ties)
    np.testing.assert_array_equal(largest(x_BV, count), -np.sort(-x_BV, axis=1)[:, :count])


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 400), st.integers(1, 60), st.booleans())
def test_exactly_so_many_stay_and_of_equals_the_first(seed, width, count, ties):
    x_BV = rows(seed, width, ties)
    count = min(count, width)
    kept_BV = keep(x_BV, largest(x_BV, count)[:, -1:], count)
    order_BV = np.argsort(-x_BV, axis=1, kind="stable")
    for x_V, kept_V, order_V in zip(x_BV, kept_BV, order_BV, strict=True):
        expected = np.full(width, -np.inf)
        expected[order_V[:count]] = x_V[order_V[:count]]
        np.testing.assert_array_equal(kept_V, expected)


@pytest.mark.parametrize("count", [1, 3])
def test_a_row_where_all_is_equal_keeps_its_first(count):
    assert np.flatnonzero(keep(np.zeros((1, 100)), np.zeros((1, 1)), count)[0] == 0).tolist() == list(range(count))
