"""Filters agree with a sorted list in pure Python, on any rows with any ties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.errors import UsageError
from chainrule.recipe.registry import build, names

READ = np.zeros((3, 0), np.int64)
START = 6  # <s>


def rows():
    """Three rows of log-probabilities with many ties and impossible tokens; at least one token is possible in each."""
    weight = st.sampled_from([0, 0, 1, 1, 2, 5, 100])
    row = st.lists(weight, min_size=7, max_size=7).filter(any)
    return st.lists(row, min_size=3, max_size=3).map(normalized)


def normalized(weights):
    with np.errstate(divide="ignore"):
        return np.log(np.array(weights, dtype=float) / np.sum(weights, axis=1, keepdims=True))


def by_likelihood(row):
    """Ids of a row, the likeliest first and equals by id."""
    return sorted((id for id in range(len(row)) if row[id] > -np.inf), key=lambda id: (-row[id], id))


def kept(before, after):
    """Which ids survive in each row; what survives keeps its value."""
    survived = after > -np.inf
    assert (after[survived] == before[survived]).all()
    return [set(np.flatnonzero(row).tolist()) for row in survived]


@settings(deadline=None)
@given(rows(), st.integers(1, 9))
def test_top_k_keeps_exactly_the_k_likeliest(log_p_BV, k):
    expected = [set(by_likelihood(row)[:k]) for row in log_p_BV]
    assert kept(log_p_BV, build("generation/filters", {"name": "top_k", "k": k})(log_p_BV, READ)) == expected


@settings(deadline=None)
@given(rows(), st.floats(0.01, 1.0))
def test_top_p_keeps_the_smallest_set_that_reaches_p(log_p_BV, p):
    filtered = build("generation/filters", {"name": "top_p", "p": p})(log_p_BV, READ)
    for row, ids in zip(log_p_BV, kept(log_p_BV, filtered), strict=True):
        order = by_likelihood(row)
        assert ids == set(order[: len(ids)])
        assert math.fsum(np.exp(row[order[: len(ids)]])) >= p - 1e-9
        assert len(ids) == 1 or math.fsum(np.exp(row[order[: len(ids) - 1]])) < p + 1e-9


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.floats(0.3, 0.999))
def test_top_p_is_the_same_when_the_nucleus_is_wider_than_the_first_look(seed, p):
    log_p_BV = np.log(np.random.default_rng(seed).dirichlet(np.full(6007, 0.3), size=2))
    filtered = build("generation/filters", {"name": "top_p", "p": p})(log_p_BV, READ)
    for row, ids in zip(log_p_BV, kept(log_p_BV, filtered), strict=True):
        order = np.argsort(-row, kind="stable")
        size = int((np.cumsum(np.exp(row[order])) < p).sum()) + 1
        assert ids == set(order[:size].tolist())


@settings(deadline=None)
@given(rows(), st.floats(0.01, 1.0))
def test_min_p_keeps_the_tokens_near_the_likeliest(log_p_BV, share):
    filtered = build("generation/filters", {"name": "min_p", "share": share})(log_p_BV, READ)
    least = log_p_BV.max(axis=1) + math.log(share)
    assert kept(log_p_BV, filtered) == [{id for id in range(7) if row[id] >= low}
                                        for row, low in zip(log_p_BV, least, strict=True)]


@settings(deadline=None)
@given(rows(), st.floats(0.1, 10))
def test_temperature_divides_the_logarithms(log_p_BV, temperature):
    filtered = build("generation/filters", {"name": "temperature", "temperature": temperature})(log_p_BV, READ)
    np.testing.assert_allclose(np.exp(filtered), np.exp(log_p_BV) ** (1 / temperature), rtol=1e-9, atol=1e-300)


@settings(deadline=None)
@given(rows(), st.floats(1, 3), st.lists(st.lists(st.integers(0, 6), max_size=4), min_size=3, max_size=3))
def test_repetition_penalty_makes_only_what_was_read_less_likely(log_p_BV, penalty, read):
    ids_BT = np.array([[*ids, *[ids[0] if ids else START] * (9 - len(ids))] for ids in read])
    log_p_BV[:, START] = -np.inf  # as the decoder hands it on: <s> is padding, and never written
    filtered = build("generation/filters", {"name": "repetition_penalty", "penalty": penalty})(log_p_BV, ids_BT)
    for before, after, ids in zip(log_p_BV, filtered, read, strict=True):
        for id in range(7):
            assert after[id] == (before[id] * penalty if id in ids else before[id])


@pytest.mark.parametrize("name", names("generation/filters"))
def test_a_filter_leaves_its_input_alone_and_something_possible(name):
    """Every filter, present or future, with its default options."""
    log_p_BV = normalized(np.random.default_rng(0).integers(0, 4, size=(3, 11)) + np.eye(3, 11))
    before = log_p_BV.copy()
    filtered = build("generation/filters", name)(log_p_BV, np.array([[1, 2], [0, 0], [10, 10]]))
    assert (log_p_BV == before).all()
    assert filtered.shape == before.shape
    assert (filtered.max(axis=1) > -np.inf).all()
    assert (filtered[before == -np.inf] == -np.inf).all()


@pytest.mark.parametrize("name", names("generation/filters"))
def test_a_filter_lets_an_impossible_row_pass_without_a_warning(name):
    with np.errstate(all="raise"):
        filtered = build("generation/filters", name)(np.full((1, 300), -np.inf), np.array([[3]]))
    assert (filtered == -np.inf).all()


@pytest.mark.parametrize(("choice", "message"), [
    ({"name": "temperature", "temperature": 0.0}, r"temperature = 0.0, expected a number above 0. For the likeliest"),
    ({"name": "top_k", "k": 0}, r"top_k = 0, expected at least 1."),
    ({"name": "top_p", "p": 1.5}, r"top_p = 1.5, expected above 0 and at most 1. 1 keeps every token."),
    ({"name": "min_p", "share": 0.0}, r"min_p = 0.0, expected above 0 and at most 1."),
    ({"name": "repetition_penalty", "penalty": 0.5}, r"repetition_penalty = 0.5, expected at least 1. 1 changes"),
    ({"name": "top_q"}, r"no filter named 'top_q'. Did you mean 'top_p'"),
])
def test_an_invalid_filter_is_refused(choice, message):
    with pytest.raises(UsageError, match=message):
        build("generation/filters", choice)
