"""Batches of examples of different lengths: every example once an epoch, like lengths together, the same each time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.errors import DataError
from chainrule.inputs.arrays import padded
from chainrule.tasks._batch import Batch
from chainrule.tasks._rows import ByLength, Examples, RowBatches
from chainrule.training.plan import Plan


def examples(lengths):
    rows = [np.arange(length) + 1 for length in lengths]

    def collate(numbers, number):
        inputs = padded([rows[n] for n in numbers])
        return Batch(inputs, np.asarray(numbers), len(numbers), lengths=np.array([lengths[n] for n in numbers]))

    return Examples(np.asarray(lengths), collate)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=200), st.integers(1, 9), st.sampled_from([None, 64, 100]))
@settings(deadline=None)
def test_an_epoch_has_every_example_once(lengths, rows, most):
    order = ByLength(np.array(lengths), rows, most, seed=3)
    for epoch in range(2):
        steps = range(epoch * order.steps_per_epoch, (epoch + 1) * order.steps_per_epoch)
        assert sorted(np.concatenate([order.batch(step) for step in steps]).tolist()) == list(range(len(lengths)))


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=100))
@settings(deadline=None)
def test_a_batch_has_at_most_so_many_tokens_with_its_padding(lengths):
    lengths = np.array(lengths)
    order = ByLength(lengths, 1, 100, seed=0)
    for step in range(order.steps_per_epoch):
        which = order.batch(step)
        assert len(which) == 1 or len(which) * lengths[which].max(axis=0).sum() <= 100


def test_the_order_depends_on_seed_and_step_alone():
    lengths = np.random.default_rng(0).integers(1, 50, 300)
    one, two, other = (ByLength(lengths, 8, None, seed) for seed in (1, 1, 2))
    assert all(one.batch(step).tolist() == two.batch(step).tolist() for step in (70, 3, 41, 3))
    assert any(one.batch(step).tolist() != other.batch(step).tolist() for step in range(5))
    assert one.batch(0).tolist() != one.batch(one.steps_per_epoch).tolist()


def test_padding_is_little_where_lengths_vary_much():
    lengths = np.random.default_rng(0).geometric(0.05, 5_000)
    for plan in (Plan(batch=32), Plan(batch_tokens=2_000)):
        assert RowBatches(None, examples(lengths), None, plan).padding < 0.1


def test_rows_and_context_are_those_of_the_largest_batch():
    data = RowBatches(None, examples([3, 3, 3, 90]), None, Plan(batch_tokens=100))
    assert data.rows * data.context >= 90 and data.rows == 3
    assert data.tokens == 99 and data.tokens_per_step == 50 and data.steps_per_epoch == 2


def test_validation_reads_every_example_once_and_in_batches_that_fit():
    valid = examples(list(range(1, 40)))
    data = RowBatches(None, examples([20] * 40), valid, Plan(batch=4))
    batches = list(data.validation(4))
    assert sorted(np.concatenate([batch.targets for batch in batches]).tolist()) == list(range(39))
    assert all(batch.inputs.size <= 4 * 20 or len(batch) == 1 for batch in batches)


def test_a_large_validation_set_is_sampled():
    data = RowBatches(None, examples([5] * 9), examples([10] * 100), Plan(batch=4, evaluate_tokens=200))
    assert data.evaluation_tokens == 200
    assert sum(len(batch) for batch in data.validation(4)) == 20


def test_no_examples_are_an_error():
    with pytest.raises(DataError, match="no examples to train on"):
        RowBatches(None, examples([]), None, Plan())


def test_the_tokens_of_a_batch_are_those_that_are_not_padding():
    batch = Batch(np.zeros((2, 5)), np.zeros((2, 5)), 10, lengths=np.array([5, 2]), source=np.zeros((2, 4)),
                  source_lengths=np.array([1, 4]))
    assert batch.tokens == 12 and batch.rows(0, 1).tokens == 6
    assert batch.given.inputs.shape == (2, 4) and Batch.of(np.zeros((2, 5)), np.zeros((2, 5))).tokens == 10
