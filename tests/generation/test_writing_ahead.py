"""A model that chooses tokens itself, several at a time, writes what the loop would have chosen token by token."""

import numpy as np
import pytest

from chainrule.generation import ahead
from chainrule.generation.decoder import Decoder, decode
from chainrule.generation.rows import Marks
from chainrule.recipe.registry import build

torch = pytest.importorskip("torch")

from chainrule.models.fixed import StepsAhead  # noqa: E402
from chainrule.models.language import NeuralLanguageModel  # noqa: E402
from chainrule.models.shape import Shape  # noqa: E402
from chainrule.models.stack import Stack  # noqa: E402
from chainrule.models.writer import GraphWriter  # noqa: E402

torch.set_num_threads(1)
START, END, V = 0, 1, 23
PROMPTS = [[3, 5, 2], [7, 4, 4], [6, 6, 6], [2, 9, 11]]
WAYS = [("greedy", []), ("sample", []), ({"name": "sample", "seed": 5}, ["temperature", {"name": "top_k", "k": 5}]),
        ("sample", [{"name": "top_p", "p": 0.7}]), ("sample", [{"name": "min_p", "share": 0.2}]),
        ("greedy", [{"name": "repetition_penalty", "penalty": 2.0}]),
        ("sample", ["repetition_penalty", {"name": "temperature", "temperature": 0.7}, {"name": "top_p", "p": 0.9}])]
SENTENCES = {"attention": {"pattern": "(sf)*2"}, "recurrence": {"pattern": "rr", "position": "none"},
             "window": {"pattern": "sf", "parts": {"s": {"name": "sliding_window", "window": 5}}},
             "experts": {"pattern": "sf", "parts": {"f": {"name": "mixture_of_experts", "experts": 3}}},
             "adaptive": {"pattern": "cf", "head": "adaptive"}}


def stack_of(name, context=40):
    torch.manual_seed(3)
    return Stack(Shape(**{"width": 16, "context": context, "head": "untied", **SENTENCES[name]},
                       embedding={"name": "lookup", "deviation": 1.0}), V).eval()


def texts(model, strategy, filters, *, end=END, tokens=60, unknown=None, stops=None):
    found = decode(model, PROMPTS, build("generation/strategies", strategy), marks=Marks(START, end, unknown),
                   max_tokens=tokens, filters=[build("generation/filters", each) for each in filters], stops=stops)
    return [(drafts[0].ids, drafts[0].reason, pytest.approx(drafts[0].model_log_p, abs=1e-3)) for drafts in found]


@pytest.mark.parametrize(("strategy", "filters"), WAYS, ids=str)
@pytest.mark.parametrize("name", SENTENCES)
def test_it_writes_what_the_loop_chooses(name, strategy, filters):
    stack = stack_of(name)
    assert texts(GraphWriter(stack, START), strategy, filters) == texts(NeuralLanguageModel(stack, START), strategy,
                                                                        filters)


@pytest.mark.parametrize("context", [8, 17])
def test_texts_longer_than_the_window_go_on(context):
    stack = stack_of("attention", context)
    plain, writer = NeuralLanguageModel(stack, START), GraphWriter(stack, START)
    assert texts(writer, "sample", [], end=-1) == texts(plain, "sample", [], end=-1)


def test_stops_the_unknown_token_and_the_limit_count_as_in_the_loop():
    stack = stack_of("attention")
    how = {"unknown": 4, "tokens": 33, "stops": lambda ids, read: len(ids) > read + 2 and ids[-1] == ids[-3]}
    found = texts(GraphWriter(stack, START), "sample", [], **how)
    assert found == texts(NeuralLanguageModel(stack, START), "sample", [], **how)
    assert {reason for _, reason, _ in found} >= {"stop"}


def test_steps_are_recorded_once_and_serve_again(monkeypatch):
    made = []
    init = StepsAhead.__init__
    monkeypatch.setattr(StepsAhead, "__init__", lambda self, *given: (made.append(1), init(self, *given))[1])
    writer = GraphWriter(stack_of("attention"), START)
    for seed in range(3):
        texts(writer, {"name": "sample", "seed": seed}, [], end=-1, tokens=20)
    assert len(made) == 1, "another seed is the same computation"
    texts(writer, "greedy", [], end=-1, tokens=20)
    assert len(made) == 2


def test_rows_that_end_stay_until_half_of_the_batch_is_idle(monkeypatch):
    made = []
    init = StepsAhead.__init__
    monkeypatch.setattr(StepsAhead, "__init__", lambda self, *given: (made.append(len(given[1].lengths)),
                                                                     init(self, *given))[1])
    monkeypatch.setattr(ahead, "AHEAD", 4)
    stack = stack_of("attention")
    writer = GraphWriter(stack, START)
    decoder = Decoder(writer, build("generation/strategies", "greedy"), Marks(START, -1))
    decoder.add(PROMPTS, 30)
    decoder.step(4)
    decoder.remove([3])
    while decoder.live:
        decoder.step(4)
    assert made == [4, 3]


def test_too_little_memory_or_a_growing_state_means_ordinary_steps(monkeypatch):
    def too_large(self, *given):
        raise torch.OutOfMemoryError

    stack = stack_of("attention")
    expected = texts(NeuralLanguageModel(stack, START), "sample", [])
    monkeypatch.setattr(StepsAhead, "__init__", too_large)
    writer = GraphWriter(stack, START)
    assert texts(writer, "sample", []) == expected
    assert writer._impossible


def test_a_model_that_gives_nan_is_named_as_broken():
    stack = stack_of("attention")
    with torch.no_grad():
        stack.head.bias[:] = float("nan")
    with pytest.raises(Exception, match="the model gives NaN as a probability"):
        texts(GraphWriter(stack, START), "greedy", [])


def test_beams_take_recorded_single_steps_after_a_while_and_find_the_same(monkeypatch):
    monkeypatch.setattr("chainrule.models.writer.STEADY", 3)
    stack = stack_of("recurrence")
    beams = {"name": "beam", "beams": 3}
    writer = GraphWriter(stack, START)
    plain = [(ids, reason) for ids, reason, _ in texts(NeuralLanguageModel(stack, START), beams, [], tokens=25)]
    assert [(ids, reason) for ids, reason, _ in texts(writer, beams, [], tokens=25)] == plain
    assert writer._single is not None


def test_a_state_in_recorded_steps_and_a_copy_of_it_go_on_side_by_side(monkeypatch):
    monkeypatch.setattr("chainrule.models.writer.STEADY", 2)
    stack = stack_of("attention")
    plain, writer = NeuralLanguageModel(stack, START), GraphWriter(stack, START)
    ids = np.array([3, 4])
    states = {model: model.start(2) for model in (plain, writer)}
    for _ in range(6):
        states = {model: model.advance(state, ids) for model, state in states.items()}
    copies = {model: model.pick(state, np.array([1, 0])) for model, state in states.items()}
    for _ in range(6):
        states = {model: model.advance(state, ids) for model, state in states.items()}
        copies = {model: model.advance(state, ids + 1) for model, state in copies.items()}
    torch.testing.assert_close(writer.log_probs(states[writer]), plain.log_probs(states[plain]))
    torch.testing.assert_close(writer.log_probs(copies[writer]), plain.log_probs(copies[plain]))
