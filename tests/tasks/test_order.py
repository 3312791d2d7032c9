"""The order of the data: every token once in an epoch, and a function of seed and step alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.tasks._order import Contiguous, Varied, Windows

ORDERS = [Windows, Contiguous, Varied]


@pytest.mark.parametrize("order", ORDERS)
def test_a_step_does_not_depend_on_the_steps_before_it(order):
    one, other = order(997, 7, 3, seed=5), order(997, 7, 3, seed=5)
    for step in range(200):
        one.starts(step)
    for step in (150, 3, 199, 0):
        np.testing.assert_array_equal(one.starts(step), other.starts(step))


@pytest.mark.parametrize("order", ORDERS)
def test_another_seed_is_another_order(order):
    one, other = (np.stack([order(997, 7, 3, seed).starts(step) for step in range(200)]) for seed in (1, 2))
    assert (one != other).any()


@settings(deadline=None, max_examples=60)
@given(tokens=st.integers(1, 300), context=st.integers(1, 12), rows=st.integers(1, 5), seed=st.integers(0, 9))
def test_windows_of_an_epoch_lie_in_the_text_and_apart(tokens, context, rows, seed):
    context = min(context, tokens)
    order = Windows(tokens, context, rows, seed)
    steps = -(-order.windows // rows)
    starts = np.concatenate([order.starts(step) for step in range(steps)])
    assert starts.min() >= 0 and starts.max() + context <= tokens
    first = np.sort(starts[:order.windows])
    assert (np.diff(first) == context).all()
    assert tokens - order.windows * context < 2 * context  # little is left out


@settings(deadline=None, max_examples=60)
@given(tokens=st.integers(1, 300), context=st.integers(1, 12), rows=st.integers(1, 5), seed=st.integers(0, 9))
def test_contiguous_rows_go_on_where_they_were(tokens, context, rows, seed):
    rows = min(rows, tokens)
    context = min(context, tokens // rows)
    order = Contiguous(tokens, context, rows, seed)
    steps = [order.starts(step) for step in range(2 * order.steps_per_epoch)]
    assert min(map(min, steps)) >= 0 and max(map(max, steps)) + context <= tokens
    for step in range(1, len(steps)):
        if not order.is_fresh(step):
            np.testing.assert_array_equal(steps[step], steps[step - 1] + context)
    assert order.is_fresh(0) and order.is_fresh(order.steps_per_epoch)


def test_epochs_are_cut_at_other_places():
    order = Windows(1000, 10, 1, seed=0)
    phases = {int(order.starts(epoch * order.windows)[0]) % 10 for epoch in range(12)}
    assert len(phases) > 3


@settings(deadline=None, max_examples=60)
@given(tokens=st.integers(1, 900), context=st.integers(1, 40), rows=st.integers(1, 5), seed=st.integers(0, 9))
def test_varied_rows_go_on_where_they_were_and_fill_their_column(tokens, context, rows, seed):
    rows = min(rows, tokens)
    context = min(context, tokens // rows)
    order = Varied(tokens, context, rows, seed)
    for epoch in range(2):
        place = 0
        for step in range(epoch * order.steps_per_epoch, (epoch + 1) * order.steps_per_epoch):
            np.testing.assert_array_equal(order.starts(step), np.arange(rows) * order.length + place)
            assert 1 <= order.length_of(step) <= context
            assert order.pace(step) == order.length_of(step) / (7 / 8 * context)
            place += order.length_of(step)
        assert place == min(order.length, context * order.steps_per_epoch)


def test_varied_stretches_are_as_long_as_those_of_awd_lstm():
    order = Varied(20 * 46_479, 80, 20, seed=0)
    lengths = np.array([order.length_of(step) for step in range(order.steps_per_epoch)])
    assert lengths.sum() == order.length, "every token is read in an epoch"
    short = lengths < 52
    assert 0.02 < short.mean() < 0.09 and abs(np.median(lengths[short]) - 35) < 4
    assert abs(lengths[~short].mean() - 70) < 1 and abs(lengths[~short].std() - 5) < 0.7
    assert order.tokens_per_step == pytest.approx(20 * 68.25, rel=0.01)
    assert (lengths != [order.length_of(order.steps_per_epoch + n) for n in range(len(lengths))]).any()
