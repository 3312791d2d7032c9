"""A model that writes in steps of a fixed shape writes the same texts; a GPU makes a graph of the steps."""

import numpy as np
import pytest
import torch

from chainrule.generation.decode import Marks, decode
from chainrule.models import fixed
from chainrule.models.fixed import FixedSteps, FixedWriter, Held
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.stack import Shape, Stack
from chainrule.recipe.registry import build

START, END, PROMPTS = 0, 1, np.array([[3, 5, 2], [7, 4, 4], [6, 6, 6]])
SENTENCES = [("(sf)*2", "rotary"), ("(sf)*2", "learned"), ("(sf)*2", "alibi"), ("(rsf)*2", "none"), ("cfw", "none")]


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(fixed, "CALM", 3)


def made(pattern, position="rotary"):
    torch.manual_seed(3)
    torch.set_num_threads(1)
    return Stack(Shape(pattern=pattern, width=24, context=32, position=position, head="untied",
                       s={"name": "attention", "heads": 4, "groups": 2},
                       embedding={"name": "lookup", "deviation": 1.0}), 13).eval()


def texts(model, strategy, count=60, end=END):
    found = decode(model, PROMPTS, build("generation/strategies", strategy), marks=Marks(START, end), max_tokens=count)
    return [[draft.written for draft in drafts] for drafts in found]


@pytest.mark.parametrize("strategy", ["greedy", {"name": "sample", "seed": 5}, {"name": "beam", "beams": 2}])
@pytest.mark.parametrize(("pattern", "position"), SENTENCES)
def test_the_texts_are_those_of_the_model_itself(pattern, position, strategy):
    stack = made(pattern, position)
    assert texts(FixedWriter(stack, START), strategy) == texts(NeuralLanguageModel(stack, START), strategy)


def test_rows_that_end_at_different_times_leave_the_others_alone():
    stack = made("(rsf)*2", "none")
    strategy = {"name": "sample", "seed": 2}
    expected = texts(NeuralLanguageModel(stack, START), strategy)
    assert len({len(written) for [written] in expected}) > 1
    assert texts(FixedWriter(stack, START), strategy) == expected


def test_steps_are_taken_when_rows_have_gone_on_for_a_while(monkeypatch):
    taken = []
    go_on = FixedSteps.go_on
    monkeypatch.setattr(FixedSteps, "go_on", lambda self, ids: (taken.append(len(ids)), go_on(self, ids))[1])
    writer = FixedWriter(made("sf"), START)
    texts(writer, "greedy", count=20, end=-1)
    assert taken == [3] * (20 - 2), "the first two wait"
    texts(writer, "greedy", count=20, end=-1)
    assert len(taken) == 18 + 1 + 20, "for as many rows the steps are there already, also for <s>"


def test_a_copy_is_a_state_of_its_own():
    model, writer = (kind(made("(rsf)*2", "none"), START) for kind in (NeuralLanguageModel, FixedWriter))
    ids = torch.tensor([3, 4])
    plain, state = model.start(2), writer.start(2)
    for _ in range(6):
        plain, state = model.advance(plain, ids), writer.advance(state, ids)
    assert isinstance(state.stack, Held)
    copy, other = writer.pick(state, [1, 0]), model.pick(plain, [1, 0])
    for _ in range(6):  # the state that lies in the steps and its copy go on side by side
        state, plain = writer.advance(state, ids), model.advance(plain, ids)
        copy, other = writer.advance(copy, ids + 1), model.advance(other, ids + 1)
    torch.testing.assert_close(writer.log_probs(state), model.log_probs(plain))
    torch.testing.assert_close(writer.log_probs(copy), model.log_probs(other))


def test_several_tokens_at_once_may_follow_steps():
    model, writer = (kind(made("(rsf)*2", "none"), START) for kind in (NeuralLanguageModel, FixedWriter))
    ids, more = torch.tensor([3, 4]), torch.tensor([[5, 6, 7], [7, 6, 5]])
    plain, state = model.start(2), writer.start(2)
    for _ in range(6):
        plain, state = model.advance(plain, ids), writer.advance(state, ids)
    torch.testing.assert_close(writer.log_probs(writer.read(state, more)), model.log_probs(model.read(plain, more)))


def test_rows_that_memory_is_too_small_for_go_on_as_before(monkeypatch):
    tried = []

    def too_large(self, rows):
        tried.append(rows)
        raise torch.OutOfMemoryError

    monkeypatch.setattr(FixedSteps, "_fixed", lambda self, state: too_large(self, self.rows))
    stack = made("(sf)*2")
    strategy = {"name": "sample", "seed": 2}
    assert texts(FixedWriter(stack, START), strategy) == texts(NeuralLanguageModel(stack, START), strategy)
    assert len(tried) == len(set(tried)) > 0, "once for each number of rows, fewer each time"
