"""Student's t against scipy and against published quantiles."""

import pytest
from scipy import special, stats

from chainrule.evaluation.student import incomplete_beta, reach, two_sided


@pytest.mark.parametrize("degrees", [1, 2, 2.7, 5, 30, 400.5])
@pytest.mark.parametrize("t", [0.0, 0.01, 0.7, 2.0, 4.3, 60.0])
def test_both_tails_are_those_of_scipy(t, degrees):
    assert two_sided(t, degrees) == pytest.approx(2 * stats.t.sf(t, degrees), rel=1e-9)
    assert two_sided(-t, degrees) == two_sided(t, degrees)


@pytest.mark.parametrize(("degrees", "t"), [(1, 12.706), (2, 4.303), (10, 2.228), (30, 2.042)])
def test_quantiles_are_those_of_the_tables(degrees, t):
    """Fisher & Yates 1938, table III."""
    assert reach(degrees) == pytest.approx(t, abs=5e-4)


@pytest.mark.parametrize(("x", "a", "b"), [(0.1, 2.0, 3.5), (0.9, 2.0, 3.5), (0.5, 0.5, 0.5), (0, 1, 2), (1, 1, 2)])
def test_the_incomplete_beta_function_is_that_of_scipy(x, a, b):
    assert incomplete_beta(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-10)
