"""Language modeling as a task: what is read, what is wanted, and how the text kept aside is measured."""

import math

import numpy as np
import pytest
import torch
from small import LSTM, SHAPES, SIZE, TRANSFORMER, VOCABULARY, ids, planned, text

from chainrule.tasks.language import Text
from chainrule.training.run import Telling, language_task, new_stack

CPU = torch.device("cpu")


def task(shape, said=None, *, train=None, valid=None, **changes):
    stack = new_stack(shape, SIZE, 0).eval()
    telling = Telling((said if said is not None else []).append)
    return stack, language_task(stack, planned(**changes), train or text(), valid, VOCABULARY, telling)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_each_token_is_wanted_after_the_one_before_it_and_units_begin_with_the_start_mark(shape):
    _, found = task(shape)
    stream = found.text.ids
    for step in range(40):
        batch = found.batch(step, CPU)
        for row, start in enumerate(found.order.starts(step)):
            for t in range(batch.read.shape[1]):
                before = stream[start + t - 1] if start + t else VOCABULARY.end
                assert batch.read[row, t] == (VOCABULARY.start if before == VOCABULARY.end else before)
                assert batch.wanted[row, t] == stream[start + t]


def test_recurrent_stacks_read_on_and_others_read_windows():
    assert task(LSTM)[1].carries and not task(TRANSFORMER)[1].carries
    assert not task(LSTM, reading="windows")[1].carries


def test_attention_cannot_carry_its_state():
    with pytest.raises(Exception, match="training.reading = 'contiguous', expected 'windows' for attention"):
        task(TRANSFORMER, reading="contiguous")


@pytest.mark.parametrize("tokens", [2, 6, 7, 8, 61, 150])
def test_every_token_kept_aside_is_measured_once(tokens):
    for shape in SHAPES.values():
        _, found = task(shape, valid=text(tokens, seed=1))
        assert sum(batch.tokens for batch in found._valid_batches(CPU, 6)) == tokens


def test_the_loss_is_the_mean_of_the_log_probabilities():
    unit = Text(np.append(ids(20)[:6] % 11 + 2, 1).astype(np.uint16), bytes=14)
    stack, found = task(TRANSFORMER, valid=unit)
    measured = found.evaluate(stack, CPU)
    hidden, _ = stack(torch.tensor([[0, *unit.ids[:-1].tolist()]]))
    log_p = stack.head(hidden).log_softmax(-1)[0, range(7), unit.ids.astype(np.int64)]
    assert measured["loss"] == pytest.approx(-log_p.mean().item(), rel=1e-5)
    assert measured["bits_per_byte"] == pytest.approx(-log_p.sum().item() / math.log(2) / 14, rel=1e-5)


def test_a_carried_state_is_measured_as_one_long_read():
    stack, found = task(LSTM, valid=text(60, seed=1), batch=2)
    stream = found.valid.ids.astype(np.int64)
    before = np.concatenate([[1], stream[:-1]])
    read = torch.from_numpy(np.where(before == 1, 0, before)).reshape(2, 30)
    log_p = stack.head(stack(read)[0]).log_softmax(-1).flatten(0, 1)[range(60), stream]
    assert found.evaluate(stack, CPU)["loss"] == pytest.approx(-log_p.mean().item(), rel=1e-5)


def test_without_text_kept_aside_nothing_is_measured():
    stack, found = task(TRANSFORMER)
    assert found.evaluate(stack, CPU) == {}


def test_a_text_shorter_than_the_context_is_read_in_shorter_windows():
    said = []
    _, found = task(TRANSFORMER, said, train=text(4))
    assert found.batch(0, CPU).read.shape == (6, 4)
    assert said == ["the text has 4 tokens, fewer than model.context = 7: it is read in windows of 4."]


def test_a_text_too_short_for_the_rows_is_read_in_fewer():
    said = []
    _, found = task(LSTM, said, train=text(17))
    assert found.batch(0, CPU).read.shape == (3, 5)
    assert said == ["the text has 17 tokens, too few for 6 rows of 5: training.batch is 3."]


@pytest.mark.parametrize(("changes", "name"), [({"patience": 2}, "patience"),
                                               ({"schedule": {"name": "plateau"}}, "schedule=plateau")])
def test_watching_a_validation_loss_without_validation_text_is_told(changes, name):
    said = []
    task(TRANSFORMER, said, **changes)
    assert said == [f"training.{name} does nothing without validation text: give --valid, or split.valid=0.1."]


def test_fewer_rows_at_a_time_measure_the_same():
    stack, found = task(TRANSFORMER, valid=text(150, seed=1))
    one, other = (found.evaluate(stack, CPU, rows)["loss"] for rows in (1, 6))
    assert one == pytest.approx(other, rel=1e-6)


def test_a_text_without_tokens_is_refused():
    with pytest.raises(Exception, match="the text to train on has no tokens"):
        task(TRANSFORMER, train=Text(np.zeros(0, np.uint16)))
