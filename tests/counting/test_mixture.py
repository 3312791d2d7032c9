"""A mixture is a language model like its members, and EM finds its weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import History, random_bigram

from chainrule.counting.mixture import Mixture, expectation_maximization, fit_weights
from chainrule.errors import UsageError
from chainrule.protocols import LanguageModel, Shortenable

MEMBERS = (History(7, seed=1), random_bigram(7, seed=2), History(7, seed=3, impossible=(4,)))
WEIGHTS = (0.5, 0.2, 0.3)


def test_a_mixture_is_a_language_model():
    assert isinstance(Mixture(MEMBERS, WEIGHTS), LanguageModel)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(2, 6), min_size=1, max_size=6))
def test_a_token_has_the_weighted_sum_of_its_probabilities(ids):
    """Step by step and all at once, straight from the definition."""
    mixture = Mixture(MEMBERS, WEIGHTS)
    state, states = mixture.start(1), [model.start(1) for model in MEMBERS]
    expected = []
    for id in ids:
        p_V = sum(weight * np.exp(model.log_probs(own)[0])
                  for weight, model, own in zip(WEIGHTS, MEMBERS, states, strict=True))
        np.testing.assert_allclose(np.exp(mixture.log_probs(state)[0]), p_V, atol=1e-12)
        np.testing.assert_allclose(p_V.sum(), 1)
        expected.append(np.log(p_V[id]))
        state = mixture.advance(state, np.array([id]))
        states = [model.advance(own, np.array([id])) for model, own in zip(MEMBERS, states, strict=True)]
    np.testing.assert_allclose(mixture.score(np.array([ids]))[0], expected)


def test_rows_are_picked_in_every_member():
    mixture = Mixture(MEMBERS, WEIGHTS)
    state = mixture.advance(mixture.start(3), np.array([2, 3, 4]))
    picked = mixture.pick(state, np.array([2, 0, 2]))
    np.testing.assert_array_equal(mixture.log_probs(picked), mixture.log_probs(state)[[2, 0, 2]])


def test_a_mixture_of_models_with_bounded_memory_can_be_shortened():
    bigrams = [random_bigram(7, seed=1), random_bigram(7, seed=2)]
    mixture = Mixture(bigrams, (0.4, 0.6))
    assert isinstance(mixture, Shortenable)
    assert mixture.context == 1
    expected = np.log(0.4 * np.exp(bigrams[0].log_p_V[3:5]) + 0.6 * np.exp(bigrams[1].log_p_V[3:5]))
    np.testing.assert_allclose(mixture.shortened(0).score(np.array([[3, 4]]))[0], expected)
    np.testing.assert_array_equal(mixture.shortened(1).score(np.array([[3, 4]])), mixture.score(np.array([[3, 4]])))
    assert not isinstance(Mixture(MEMBERS, WEIGHTS), Shortenable)


def test_probabilities_too_small_for_exp_are_mixed_exactly():
    models = [random_bigram(3), random_bigram(3)]
    models[0].log_p_VV, models[1].log_p_VV = np.full((3, 3), -5000.0), np.full((3, 3), -5001.0)
    found = Mixture(models, (0.5, 0.5)).score(np.array([[2]]))
    np.testing.assert_allclose(found, -5000 + np.log(0.5 + 0.5 * np.exp(-1)))


def test_a_member_of_weight_zero_is_ignored():
    silent = random_bigram(7)
    silent.log_p_VV = np.full((7, 7), np.nan)
    np.testing.assert_allclose(Mixture([MEMBERS[0], silent], (1.0, 0.0)).score(np.array([[3, 4]])),
                               MEMBERS[0].score(np.array([[3, 4]])))


def test_tokens_that_no_member_allows_stay_impossible():
    blind = [History(7, seed=seed, impossible=(4,)) for seed in (1, 2)]
    assert Mixture(blind, (0.5, 0.5)).score(np.array([[4]])).tolist() == [[-np.inf]]


scores = st.integers(0, 10_000).map(lambda seed: np.random.default_rng(seed)).map(
    lambda rng: np.where(rng.random((3, 40)) < 0.1, -np.inf, rng.normal(-4, 2, (3, 40))))


@settings(deadline=None)
@given(scores)
def test_likelihood_never_falls(scores_MT):
    steps = expectation_maximization(scores_MT, np.full(3, 1 / 3))
    values = [next(steps)[1] for _ in range(30)]
    assert all(later >= earlier - 1e-12 for earlier, later in zip(values, values[1:], strict=False))


@settings(deadline=None, max_examples=25)
@given(scores)
def test_em_finds_what_a_search_over_all_weights_finds(scores_MT):
    grid = [(a, b, max(0, 1 - a - b)) for a in np.linspace(0, 1, 26) for b in np.linspace(0, 1, 26) if a + b <= 1]
    p_MT = np.exp(scores_MT[:, np.isfinite(scores_MT).any(axis=0)])
    with np.errstate(divide="ignore"):
        best = max(np.log(np.array(weights) @ p_MT).mean() for weights in grid)
    weights = fit_weights(scores_MT, tolerance=1e-9)
    assert abs(weights.sum() - 1) < 1e-9
    assert (weights >= 0).all()
    assert np.log(weights @ p_MT).mean() >= best - 1e-5


def test_weights_are_recovered_from_text_that_the_mixture_wrote():
    """20,000 tokens drawn from 0.7 p₁ + 0.3 p₂."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(50, 0.3), size=2)
    ids = rng.choice(50, size=20_000, p=0.7 * p[0] + 0.3 * p[1])
    np.testing.assert_allclose(fit_weights(np.log(p[:, ids])), [0.7, 0.3], atol=0.02)


@pytest.mark.parametrize(("models", "weights", "message"), [
    ([History(5), History(6)], (0.5, 0.5), r"Mixture.models = \[5, 6\], expected models that share one"),
    ([History(5)], (0.5, 0.5), r"Mixture.weights = \[0.5, 0.5\], expected 1 weights that sum to 1"),
    ([History(5), History(5)], (0.9, 0.9), r"Mixture.weights = \[0.9, 0.9\], expected 2 weights that sum to 1"),
    ([History(5), History(5)], (1.5, -0.5), r"Mixture.weights = \[1.5, -0.5\]"),
    ([], (), r"Mixture.models = \[\], expected"),
])
def test_an_invalid_mixture_is_refused(models, weights, message):
    with pytest.raises(UsageError, match=message):
        Mixture(models, weights)


@pytest.mark.parametrize(("scores_MT", "message"), [
    (np.zeros((2, 0)), r"fit_weights.scores = \[2, 0\], expected \(members, tokens\)"),
    (np.full((2, 3), np.nan), r"fit_weights.scores = nan, expected log-probabilities"),
    (np.full((2, 3), -np.inf), r"fit_weights.scores = -inf, expected at least one token with a probability above 0"),
])
def test_weights_cannot_be_learned_from_nothing(scores_MT, message):
    with pytest.raises(UsageError, match=message):
        fit_weights(scores_MT)
