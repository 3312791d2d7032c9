"""Language modeling as a task: what is read, what is wanted, and how the text kept aside is measured."""

import math

import numpy as np
import pytest
import torch
from small import LSTM, SHAPES, TRANSFORMER, VOCABULARY, ids, learner, planned, text

from chainrule.tasks._text import Text
from chainrule.training.callbacks import Callbacks

torch.set_num_threads(1)


def made(shape, said=None, *, train=None, valid=None, **changes):
    """A learner, whose data and task are looked at."""
    say = (said if said is not None else []).append
    return learner(shape, planned(**changes), Callbacks(say), train=train, valid=valid)


def evaluated(found, rows=6):
    """Loss and bits per byte of the text kept aside."""
    measured, _ = found.evaluate(rows, writes=False)
    found.network.eval()
    return {**measured, **found.data.measured_in_validation(measured["loss"])} if measured else {}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_each_token_is_wanted_after_the_one_before_it_and_units_begin_with_the_start_mark(shape):
    data = made(shape).data
    stream = data.text.ids
    for step in range(40):
        batch = data.batch(step)
        assert batch.count == batch.targets.size == 6 * shape.context
        for row, start in enumerate(data.order.starts(step)):
            for t in range(batch.inputs.shape[1]):
                before = stream[start + t - 1] if start + t else VOCABULARY.end
                assert batch.inputs[row, t] == (VOCABULARY.start if before == VOCABULARY.end else before)
                assert batch.targets[row, t] == stream[start + t]


def test_recurrent_stacks_read_on_and_others_read_windows():
    assert made(LSTM).data.carries and not made(TRANSFORMER).data.carries
    assert not made(LSTM, reading="windows").data.carries


def test_attention_cannot_carry_its_state():
    with pytest.raises(Exception, match="training.reading = 'contiguous', expected 'windows' for attention"):
        made(TRANSFORMER, reading="contiguous")


@pytest.mark.parametrize("tokens", [2, 6, 7, 8, 61, 150])
def test_every_validation_token_is_measured_once(tokens):
    for shape in SHAPES.values():
        data = made(shape, valid=text(tokens, seed=1)).data
        assert sum(batch.count for batch in data.validation(6)) == tokens == data.evaluation_tokens


def test_the_loss_is_the_mean_of_the_log_probabilities():
    unit = Text(np.append(ids(20)[:6] % 11 + 2, 1).astype(np.uint16), bytes=14)
    found = made(TRANSFORMER, valid=unit)
    measured, stack = evaluated(found), found.network
    hidden, _ = stack(torch.tensor([[0, *unit.ids[:-1].tolist()]]))
    log_p = stack.head.log_probs(hidden)[0, range(7), unit.ids.astype(np.int64)]
    assert measured["loss"] == pytest.approx(-log_p.mean().item(), rel=1e-5)
    assert measured["bits_per_byte"] == pytest.approx(-log_p.sum().item() / math.log(2) / 14, rel=1e-5)


def test_a_carried_state_is_measured_as_one_long_read():
    found = made(LSTM, valid=text(60, seed=1), batch=2)
    measured, stack = evaluated(found, 2), found.network
    stream = found.data.valid.ids.astype(np.int64)
    before = np.concatenate([[1], stream[:-1]])
    read = torch.from_numpy(np.where(before == 1, 0, before)).reshape(2, 30)
    log_p = stack.head.log_probs(stack(read)[0]).flatten(0, 1)[range(60), stream]
    assert measured["loss"] == pytest.approx(-log_p.mean().item(), rel=1e-5)


def test_without_validation_text_nothing_is_measured():
    assert evaluated(made(TRANSFORMER)) == {}


def test_a_text_shorter_than_the_context_is_read_in_shorter_windows():
    said = []
    found = made(TRANSFORMER, said, train=text(4))
    assert found.data.batch(0).inputs.shape == (6, 4)
    assert said == ["the text has 4 tokens, fewer than model.context = 7: it is read in windows of 4."]


def test_a_text_too_short_for_the_rows_is_read_in_fewer():
    said = []
    found = made(LSTM, said, train=text(17))
    assert found.data.batch(0).inputs.shape == (3, 5)
    assert said == ["the text has 17 tokens, too few for 6 rows of 5: training.batch is 3."]


@pytest.mark.parametrize(("changes", "name"), [({"patience": 2}, "patience"),
                                               ({"schedule": {"name": "plateau"}}, "schedule=plateau")])
def test_watching_a_validation_loss_without_validation_text_is_reported(changes, name):
    said = []
    made(TRANSFORMER, said, **changes)
    assert said == [f"training.{name} does nothing without validation text: give --valid, or split.valid=0.1."]


def test_fewer_rows_at_a_time_measure_the_same():
    found = made(TRANSFORMER, valid=text(150, seed=1))
    one, other = (evaluated(found, rows)["loss"] for rows in (1, 6))
    assert one == pytest.approx(other, rel=1e-6)


def test_a_text_without_tokens_is_refused():
    with pytest.raises(Exception, match="the text to train on has no tokens"):
        made(TRANSFORMER, train=Text(np.zeros(0, np.uint16)))
