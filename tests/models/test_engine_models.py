"""Weights of the engine and of torch are interchangeable: the same file gives the same log-probabilities, both ways."""

import re
from dataclasses import fields

import numpy as np
import pytest

from chainrule.errors import UsageError
from chainrule.models.engine_counterpart import in_engine, in_neural
from chainrule.models.engine_language import EngineLanguageModel
from chainrule.models.engine_stack import EngineShape, EngineStack, exported, imported

torch = pytest.importorskip("torch")
from chainrule.models.language import NeuralLanguageModel  # noqa: E402
from chainrule.models.stack import Shape, Stack  # noqa: E402
from chainrule.training import weights  # noqa: E402
from chainrule.training.run import new_stack  # noqa: E402

SIZES = {"width": 12, "context": 8, "deviation": 0.5}
SHAPES = {
    "transformer": EngineShape("(sf)*2", heads=3, **SIZES),
    "gpt": EngineShape("(sf)*2", heads=2, norm="layer", position="learned", feedforward="gelu_tanh",
                       head="untied", bias=True, **SIZES),
    "elman": EngineShape("rr", recurrence="elman", position="none", **SIZES),
    "ugrnn": EngineShape("rr", recurrence="ugrnn", position="none", wiring="residual", norm="none", **SIZES),
    "gru": EngineShape("rr", recurrence="gru", position="none", wiring="plain", norm="none", **SIZES),
    "lstm": EngineShape("rf", recurrence="lstm", position="none", **SIZES),
    "nnlm": EngineShape("wf", window=3, feedforward="tanh", position="none", **SIZES),
    "hybrid": EngineShape("rsf", heads=2, recurrence="lstm", **SIZES),
}


def pair(name):
    ours = EngineStack(SHAPES[name], 11, np.random.default_rng(0))
    torch.manual_seed(1)
    theirs = Stack(Shape(**in_neural(SHAPES[name])), 11)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return ours, theirs.eval()


def agree(ours, theirs):
    ids = np.random.default_rng(2).integers(2, 11, size=(3, 21))
    mine, peer = EngineLanguageModel(ours, 0), NeuralLanguageModel(theirs, 0)
    np.testing.assert_allclose(mine.score(ids), peer.score(torch.from_numpy(ids)).numpy(), atol=1e-5)
    state, other = mine.start(3), peer.start(3)
    for column in ids.T:
        state, other = mine.advance(state, column), peer.advance(other, torch.from_numpy(column))
        np.testing.assert_allclose(mine.log_probs(state), peer.log_probs(other).numpy(), atol=1e-5)
    np.testing.assert_allclose(mine.log_probs(mine.read(mine.start(3), ids)), mine.log_probs(state), atol=1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_torch_reads_the_weights_of_the_engine(name):
    ours, theirs = pair(name)
    weights.put(theirs, {key: torch.tensor(value) for key, value in exported(ours).items()}, "the engine")
    agree(ours, theirs)


@pytest.mark.parametrize("name", SHAPES)
def test_the_engine_reads_the_weights_of_torch(name):
    ours, theirs = pair(name)
    imported(ours, {key: value.numpy() for key, value in weights.weights(theirs).items()})
    agree(ours, theirs)


@pytest.mark.parametrize("name", SHAPES)
def test_a_sentence_comes_back_from_the_other_side_as_it_was(name):
    shape, left_out = in_engine(in_neural(SHAPES[name]))
    unused = {"r": ["recurrence"], "s": ["heads", "bias"], "w": ["window"], "f": ["feedforward"]}
    kept = [field.name for field in fields(shape) if not any(
        field.name in names and letter not in SHAPES[name].pattern for letter, names in unused.items())]
    assert [getattr(shape, each) for each in kept] == [getattr(SHAPES[name], each) for each in kept]
    assert not left_out


def test_what_matters_to_training_alone_is_told():
    _, left_out = in_engine({"pattern": "rs", "width": 12, "context": 8, "r": {"name": "elman", "recurrent": "uniform"},
                             "s": {"name": "attention", "dropout": 0.1}, "dropout": "variational"})
    assert left_out == ["model.r.recurrent", "model.s.dropout", "model.dropout.name"]


@pytest.mark.parametrize(("change", "said"), [
    ({"pattern": "cf"}, "model.pattern = 'cf', expected the letters s, r, w and f. The engine has no part for 'c'"),
    ({"s": {"name": "attention", "groups": 1}}, "model.s.groups = 1, expected 4. The engine has no other."),
    ({"f": {"name": "swiglu", "hidden": 7}}, "model.f.hidden = 7, expected 32. The engine has no other."),
    ({"f": "geglu"}, "model.f = 'geglu', expected mlp or swiglu. The engine has no other part."),
    ({"f": {"name": "mlp", "activation": "identity"}}, "model.f.activation = 'identity', expected gelu, gelu_tanh"),
    ({"wiring": "post_norm"}, "model.wiring = 'post_norm', expected pre_norm or residual or plain"),
    ({"norm": {"name": "rms", "epsilon": 1e-3}}, "model.norm.epsilon = 0.001, expected 1e-06"),
    ({"position": "alibi"}, "model.position = 'alibi', expected rotary or learned or none"),
    ({"head": {"name": "tied", "bias": True}}, "model.head.bias = True, expected False"),
])
def test_what_the_engine_does_not_have_is_told_in_one_line(change, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        in_engine({"pattern": "sf", "width": 12, "context": 8, "s": "attention", "f": "swiglu", **change})


def test_what_goes_without_saying_may_be_said():
    shape, _ = in_engine({"pattern": "sf", "width": 12, "context": 8, "s": {"name": "attention", "heads": 2,
                          "groups": 2}, "f": {"name": "mlp", "hidden": 48, "activation": "relu"}})
    assert (shape.heads, shape.feedforward) == (2, "relu")


@pytest.mark.parametrize("name", SHAPES)
def test_torch_starts_from_the_weights_of_the_engine_where_it_is_told_to(name):
    started = new_stack(Shape(**in_neural(SHAPES[name])), 11, 5, "engine")
    drawn = exported(EngineStack(SHAPES[name], 11, np.random.default_rng(5)))
    assert weights.weights(started).keys() == drawn.keys()
    for key, value in weights.weights(started).items():
        np.testing.assert_array_equal(value, drawn[key], err_msg=key)


def test_a_start_that_the_engine_does_not_have_is_told():
    with pytest.raises(UsageError, match=r"training.initial = 'engine', expected 'torch' with model.r.recurrent"):
        new_stack(Shape(pattern="r", r={"name": "elman", "recurrent": "identity"}), 11, 0, "engine")
