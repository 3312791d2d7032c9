"""A model that writes in steps of a fixed shape writes the same texts; a GPU makes a graph of the steps."""

import numpy as np
import plugins
import pytest
import torch

from chainrule.generation.decoder import decode
from chainrule.generation.rows import Marks
from chainrule.models import fixed, writer
from chainrule.models.fixed import FixedSteps, NotFixed
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.models.writer import GraphWriter
from chainrule.recipe.registry import build

torch.set_num_threads(1)
START, END, PROMPTS = 0, 1, np.array([[3, 5, 2], [7, 4, 4], [6, 6, 6]])
SENTENCES = [("(sf)*2", "rotary"), ("(sf)*2", "learned"), ("(sf)*2", "alibi"), ("(rsf)*2", "none"), ("cfw", "none"),
             ("(lf)*2 s", "relative_bias"), ("[sr]*2", "rotary")]
GROWING = '''
"""Everything that was read, in a state that grows."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part


@dataclass(frozen=True)
class Past:
    inputs: Tensor  # (B, t, D)


@part
class Growing(nn.Module):
    """The largest of all inputs so far.

    y_t = max(x_1, …, x_t)
    """

    def __init__(self, place: Place):
        super().__init__()
        self.width = place.width

    def start(self, batch: int, room: int, like: Tensor) -> Past:
        return Past(like.new_zeros(batch, 0, self.width))

    def forward(self, x: Tensor, state: Past | None, reading: Reading) -> tuple[Tensor, Past]:
        before = x[:, :0] if state is None else state.inputs
        whole = torch.cat([before, x], dim=1)
        return whole.cummax(1).values[:, before.shape[1]:], Past(whole)
'''


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(writer, "STEADY", 3)


def made(pattern, position="rotary", **parts):
    torch.manual_seed(3)
    attention = {"name": "attention", "heads": 4, "groups": 2}
    near = {"name": "sliding_window", "heads": 4, "window": 6}
    return Stack(Shape(pattern=pattern, width=24, context=32, position=position, head="untied",
                       parts={"s": attention, "l": near, **parts}, embedding={"name": "lookup", "deviation": 1.0}),
                 13).eval()


def texts(model, strategy, count=60, end=END):
    found = decode(model, PROMPTS, build("generation/strategies", strategy), marks=Marks(START, end), max_tokens=count)
    return [[draft.written for draft in drafts] for drafts in found]


def both(*stack):
    """The model as it is, and as it writes in fixed steps."""
    return (kind(made(*stack), START) for kind in (NeuralLanguageModel, GraphWriter))


@pytest.fixture
def taken(monkeypatch):
    """The number of rows of each single step that was taken."""
    found, init = [], fixed.SingleSteps.__init__

    def counted(self, *given):
        init(self, *given)
        run = self.run
        self.run = lambda: (found.append(self.rows), run())
    monkeypatch.setattr(fixed.SingleSteps, "__init__", counted)
    return found


@pytest.mark.parametrize("strategy", ["greedy", {"name": "sample", "seed": 5}, {"name": "beam", "beams": 2}])
@pytest.mark.parametrize(("pattern", "position"), SENTENCES)
def test_the_texts_are_those_of_the_model_itself(pattern, position, strategy):
    stack = made(pattern, position)
    assert texts(GraphWriter(stack, START), strategy) == texts(NeuralLanguageModel(stack, START), strategy)


def test_rows_that_end_at_different_times_leave_the_others_alone():
    stack = made("(rsf)*2", "none")
    strategy = {"name": "sample", "seed": 2}
    expected = texts(NeuralLanguageModel(stack, START), strategy)
    assert len({len(written) for [written] in expected}) > 1
    assert texts(GraphWriter(stack, START), strategy) == expected


@pytest.mark.parametrize(("pattern", "position"), SENTENCES)
@torch.inference_mode()
def test_a_step_of_a_fixed_shape_is_an_ordinary_step(pattern, position):
    model = NeuralLanguageModel(made(pattern, position), START)
    ids = torch.randint(2, 13, (3, 20))
    state = model.read(model.start(3), ids[:, :7])
    steps = FixedSteps(model, state.stack, 32)
    steps.put(state.stack)
    shapes = [each.shape for each in fixed_tensors(steps)]
    for column in ids[:, 7:].T:
        steps.ids_B1.copy_(column[:, None])
        found = steps.log_probs(steps.step())
        state = model.advance(state, column)
        torch.testing.assert_close(found, model.log_probs(state))
    assert [each.shape for each in fixed_tensors(steps)] == shapes and steps.state.lengths.tolist() == [21] * 3


def fixed_tensors(steps):
    from chainrule.parts.state import leaves

    return list(leaves((steps.state, steps.ids_B1)))


@torch.inference_mode()
def test_rows_that_have_read_differently_much_step_together():
    model = NeuralLanguageModel(made("(rsf)*2", "rotary"), START)
    ids, read = torch.randint(2, 13, (3, 20)), (3, 11, 6)
    state = model.join([model.read(model.start(1), ids[b:b + 1, :length]) for b, length in enumerate(read)])
    steps = FixedSteps(model, state.stack, 32)
    steps.put(state.stack)
    scores = model.score(ids)
    for ahead in range(8):
        column, then = (torch.stack([ids[b, length + place] for b, length in enumerate(read)])
                        for place in (ahead, ahead + 1))
        steps.ids_B1.copy_(column[:, None])
        found = steps.log_probs(steps.step()).gather(1, then[:, None])[:, 0]
        wanted = torch.stack([scores[b, length + ahead + 1] for b, length in enumerate(read)])
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


def test_steps_are_taken_when_rows_have_gone_on_for_a_while(taken):
    model, graphs = both("sf")
    ids = np.array([3, 4, 5])
    plain, state = model.start(3), graphs.start(3)
    for _ in range(20):
        plain, state = model.advance(plain, ids), graphs.advance(state, ids)
        torch.testing.assert_close(graphs.log_probs(state), model.log_probs(plain))
    assert taken == [3] * (20 - 3), "the first three wait"
    del state
    state = graphs.start(3)
    for _ in range(20):
        state = graphs.advance(state, ids)
    assert len(taken) == 17 + 20, "for as many rows the steps are there already"


@pytest.mark.parametrize(("pattern", "position"), SENTENCES)
def test_a_prompt_length_seen_before_is_recorded_with_equal_results(pattern, position):
    model, graphs = both(pattern, position)
    texts = torch.randint(2, 13, (4, 3, 9))
    states = [(model.read(None, ids), graphs.read(None, ids)) for ids in texts]
    assert list(graphs._first) == [(3, 10)]
    for n, (plain, state) in enumerate(states):  # each in tensors of its own
        then = texts[n, :, 0]
        torch.testing.assert_close(graphs.log_probs(state), model.log_probs(plain))
        torch.testing.assert_close(graphs.log_probs(graphs.advance(state, then)),
                                   model.log_probs(model.advance(plain, then)))


def test_few_prompt_lengths_are_recorded_and_no_long_ones(monkeypatch):
    monkeypatch.setattr(writer, "FEW", 20)
    model, graphs = both("sf")
    for length in [1, 2, 3, 4, 5, 6, 30] * 2:
        ids = torch.randint(2, 13, (1, length))
        torch.testing.assert_close(graphs.log_probs(graphs.read(None, ids)), model.log_probs(model.read(None, ids)))
    assert list(graphs._first) == [(1, 4), (1, 5), (1, 6), (1, 7)]


def test_beams_use_recorded_steps_although_rows_are_copied(taken):
    stack, beams = made("(rsf)*2", "none"), {"name": "beam", "beams": 3}
    assert texts(GraphWriter(stack, START), beams, 30, end=-1) == texts(NeuralLanguageModel(stack, START), beams, 30,
                                                                       end=-1)
    assert taken == [9] * len(taken) and len(taken) > 20


def test_a_copy_is_a_state_of_its_own():
    model, graphs = both("(rsf)*2", "none")
    ids = torch.tensor([3, 4])
    plain, state = model.start(2), graphs.start(2)
    for _ in range(6):
        plain, state = model.advance(plain, ids), graphs.advance(state, ids)
    assert lies_in_steps(state, graphs)
    copy, other = graphs.pick(state, [1, 0]), model.pick(plain, [1, 0])
    assert not lies_in_steps(copy, graphs)
    for _ in range(6):  # the state that lies in the steps and its copy go on side by side
        state, plain = graphs.advance(state, ids), model.advance(plain, ids)
        copy, other = graphs.advance(copy, ids + 1), model.advance(other, ids + 1)
    torch.testing.assert_close(graphs.log_probs(state), model.log_probs(plain))
    torch.testing.assert_close(graphs.log_probs(copy), model.log_probs(other))


def lies_in_steps(state, graphs):
    return state.stack.lengths.data_ptr() == graphs._single.state.lengths.data_ptr()


def test_several_tokens_at_once_may_follow_steps():
    model, graphs = both("(rsf)*2", "none")
    ids, more = torch.tensor([3, 4]), torch.tensor([[5, 6, 7], [7, 6, 5]])
    plain, state = model.start(2), graphs.start(2)
    for _ in range(6):
        plain, state = model.advance(plain, ids), graphs.advance(state, ids)
    assert lies_in_steps(state, graphs)
    plain, state = model.read(plain, more), graphs.read(state, more)
    torch.testing.assert_close(graphs.log_probs(state), model.log_probs(plain))
    for _ in range(6):
        plain, state = model.advance(plain, ids), graphs.advance(state, ids)
    torch.testing.assert_close(graphs.log_probs(state), model.log_probs(plain))


def test_another_text_does_not_disturb_one_that_went_on_from_the_steps():
    """What `read` gives after steps must not lie in their tensors, which the next text may take over."""
    model, graphs = both("(rsf)*2", "none")
    ids, more = torch.tensor([3, 4]), torch.tensor([[5, 6, 7], [7, 6, 5]])
    plain, state = model.start(2), graphs.start(2)
    for _ in range(6):
        plain, state = model.advance(plain, ids), graphs.advance(state, ids)
    plain, state = model.read(plain, more), graphs.read(state, more)
    another = graphs.start(2)
    for _ in range(9):
        another = graphs.advance(another, ids + 2)
    torch.testing.assert_close(graphs.log_probs(graphs.advance(state, ids)), model.log_probs(model.advance(plain, ids)))


@pytest.mark.parametrize("strategy", [{"name": "sample", "seed": 2}, {"name": "beam", "beams": 2}])
def test_rows_that_do_not_fit_in_memory_take_ordinary_steps(monkeypatch, strategy):
    tried = []

    def too_large(self, model, like, room):
        tried.append((len(like.lengths), room))
        raise torch.OutOfMemoryError

    stack = made("(sf)*2")
    expected = texts(NeuralLanguageModel(stack, START), strategy)
    monkeypatch.setattr(FixedSteps, "__init__", too_large)
    graphs = GraphWriter(stack, START)
    assert texts(graphs, strategy) == expected
    assert len(tried) == len(graphs._impossible) > 0, "nothing is tried twice"


def test_a_part_whose_state_grows_goes_on_by_ordinary_steps(tmp_path, taken):
    with plugins.part(tmp_path, "mixers", "growing", GROWING):
        stack = made("(gs)*2", g="growing")
        model, graphs = NeuralLanguageModel(stack, START), GraphWriter(stack, START)
        state = model.read(model.start(3), PROMPTS)
        steps = FixedSteps(model, state.stack, 32)
        steps.put(state.stack)
        with pytest.raises(NotFixed, match=r"a state of shape \(3, 4, 24\) became one of \(3, 5, 24\)"), \
                torch.inference_mode():
            steps.step()
        for strategy in ("greedy", {"name": "sample", "seed": 5}, {"name": "beam", "beams": 2}):
            assert texts(graphs, strategy) == texts(model, strategy)
        assert not taken and graphs._impossible
