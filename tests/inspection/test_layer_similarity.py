"""Similarity of layers: what the measures must not see, what they must, and the equations written out."""

import numpy as np
import pytest
import torch

from chainrule.inspection.similarity import cosine, linear_cka, pairwise, states, unbiased_cka
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.watching import watch

MEASURES = (linear_cka, unbiased_cka)


def drawn(time, width, seed):
    return np.random.default_rng(seed).normal(size=(time, width))


def rotation(width, seed=9):
    return np.linalg.qr(drawn(width, width, seed))[0]


@pytest.mark.parametrize("alike", MEASURES)
def test_cka_ignores_rotation_scale_and_shift(alike):
    x = drawn(11, 5, 0)
    assert alike(x, x) == pytest.approx(1)
    assert alike(x, 3.5 * x @ rotation(5)) == pytest.approx(1)
    assert alike(x, x + 7.0) == pytest.approx(1)


@pytest.mark.parametrize("alike", MEASURES)
def test_rotations_of_either_side_change_nothing(alike):
    x, y = drawn(13, 5, 1), drawn(13, 7, 2)
    assert alike(x, y) == pytest.approx(alike(x @ rotation(5), y @ rotation(7, 4)))
    assert alike(x, y) == pytest.approx(alike(y, x))
    assert alike(x, np.exp(x)) < 0.999


def test_linear_cka_is_the_ratio_of_hsic_with_centered_kernels():
    """Kornblith et al. 2019, eq. 1 to 3, with H = I − 11ᵀ/T."""
    x, y = drawn(9, 4, 3), drawn(9, 6, 4)
    center = np.eye(9) - 1 / 9
    k, l_ = center @ x @ x.T @ center, center @ y @ y.T @ center
    assert linear_cka(x, y) == pytest.approx(np.trace(k @ l_) / np.sqrt(np.trace(k @ k) * np.trace(l_ @ l_)))


def test_the_unbiased_one_is_zero_for_independent_vectors_where_the_other_is_not():
    pairs = [(drawn(16, 64, seed), drawn(16, 64, 1000 + seed)) for seed in range(40)]
    assert abs(np.mean([unbiased_cka(x, y) for x, y in pairs])) < 0.05
    assert np.mean([linear_cka(x, y) for x, y in pairs]) > 0.5


def test_the_unbiased_estimate_is_a_mean_over_four_different_tokens():
    """E over distinct (i, j, q, r) of K_ij (L_ij + L_qr − 2 L_iq): Song et al. 2012."""
    from itertools import permutations

    from chainrule.inspection.similarity import _hsic, _off_diagonal

    k, l_ = _off_diagonal(drawn(6, 3, 5)), _off_diagonal(drawn(6, 4, 6))
    slow = np.mean([k[i, j] * (l_[i, j] + l_[q, r] - 2 * l_[i, q]) for i, j, q, r in permutations(range(6), 4)])
    assert _hsic(k, l_) == pytest.approx(slow)


def test_few_tokens_have_no_unbiased_estimate_and_constants_no_similarity():
    assert np.isnan(unbiased_cka(drawn(3, 2, 0), drawn(3, 2, 1)))
    assert np.isnan(linear_cka(np.ones((5, 2)), drawn(5, 2, 0)))


def test_cosine_is_of_each_token_with_itself():
    x = drawn(5, 3, 0)
    assert cosine(x, 2 * x) == pytest.approx(1) and cosine(x, -x) == pytest.approx(-1)
    np.testing.assert_allclose(pairwise([x, -x], cosine), [[1, -1], [-1, 1]])


def test_layers_of_different_widths_have_no_cosine_but_a_cka():
    x, y = drawn(7, 3, 0), drawn(7, 5, 1)
    assert np.isnan(cosine(x, y)) and 0 <= linear_cka(x, y) <= 1


def test_states_go_from_the_embedding_to_the_last_sublayer():
    torch.manual_seed(0)
    stack = Stack(Shape(pattern="rsf", width=12, context=9), 17)
    with watch() as seen:
        hidden, _ = stack(torch.arange(14).reshape(2, 7))
    found = states(seen)
    assert list(found) == ["embedded", "sublayers.0", "sublayers.1", "sublayers.2"]
    assert {each.shape for each in found.values()} == {(7, 12)}
    normed = stack.norm(torch.from_numpy(found["sublayers.2"]).float())
    torch.testing.assert_close(normed, hidden[0], rtol=1e-4, atol=1e-5)
    assert states({"path": [1]}) == {}
