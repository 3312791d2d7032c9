"""Drawing by inverting the distribution function: block by block, on the host and on a device, as by the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.generation.strategies.sample import _on_device, invert


def by_the_definition(log_p_V, u):
    """The first token at which the sum of probabilities exceeds u of their total."""
    weights = np.exp(log_p_V - log_p_V.max())
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, u * sums[-1], side="right"))


def rows(size, seed):
    rng = np.random.default_rng(seed)
    log_p = 3 * rng.normal(size=(5, size))
    log_p[:, rng.random(size) < 0.3] = -np.inf
    log_p[:, size // 2] = 0.0
    return log_p


@pytest.mark.parametrize("size", [1, 2, 7, 255, 256, 257, 1000, 50_257])
@settings(deadline=None, max_examples=20)
@given(u=st.lists(st.floats(0, 1, exclude_max=True), min_size=5, max_size=5), seed=st.integers(0, 100))
def test_a_number_draws_the_token_at_which_the_distribution_function_exceeds_it(size, u, seed):
    log_p, u = rows(size, seed), np.array(u)
    expected = [by_the_definition(row, each) for row, each in zip(log_p, u, strict=True)]
    assert invert(log_p, u[:, None]).tolist() == expected
    torch = pytest.importorskip("torch")
    assert _on_device(torch.from_numpy(log_p), torch.from_numpy(u)[:, None]).tolist() == expected


def test_if_no_token_is_possible_any_is_given_without_a_warning():
    with np.errstate(all="raise"):
        assert invert(np.full((2, 300), -np.inf), np.array([[0.0], [0.9]])).max() < 300


@pytest.mark.parametrize("size", [10, 300, 768])
def test_the_largest_number_below_one_draws_a_possible_token_on_a_device_too(size):
    torch = pytest.importorskip("torch")
    log_p = torch.full((1, size), -torch.inf)
    log_p[0, 3:9] = -1.7
    u = torch.tensor([[np.nextafter(1, 0)]])
    assert _on_device(log_p, u).tolist() == invert(log_p.numpy(), u.numpy()).tolist() == [8]
