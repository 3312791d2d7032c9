"""Weights of the engine and of torch are interchangeable: the same file gives the same log-probabilities, both ways."""

import numpy as np
import pytest

from chainrule.errors import UsageError
from chainrule.models.engine_language import EngineLanguageModel
from chainrule.models.engine_stack import EngineStack, exported, imported
from chainrule.models.shape import Shape

torch = pytest.importorskip("torch")
from chainrule.models.language import NeuralLanguageModel  # noqa: E402
from chainrule.models.stack import Stack  # noqa: E402
from chainrule.training import weights  # noqa: E402
from chainrule.training.networks import new_network  # noqa: E402
from chainrule.training.plan import Plan  # noqa: E402

torch.set_num_threads(1)
SIZES = {"width": 12, "context": 8, "embedding": {"name": "lookup", "deviation": 0.5}}
SHAPES = {
    "transformer": Shape("(sf)*2", parts={"s": {"name": "attention", "heads": 3}}, **SIZES),
    "gpt": Shape("(sf)*2", parts={"s": {"name": "attention", "heads": 2, "bias": True},
                                  "f": {"name": "mlp", "activation": "gelu_tanh"}}, norm="layer", position="learned",
                 head="untied", **SIZES),
    "elman": Shape("rr", parts={"r": "elman"}, position="none", **SIZES),
    "ugrnn": Shape("rr", parts={"r": "ugrnn"}, position="none", wiring="residual", norm="none", **SIZES),
    "gru": Shape("rr", parts={"r": "gru"}, position="none", wiring="plain", norm="none", **SIZES),
    "lstm": Shape("rf", parts={"r": "lstm"}, position="none", **SIZES),
    "nnlm": Shape("wf", parts={"w": {"name": "window", "size": 3}, "f": {"name": "mlp", "activation": "tanh"}},
                  position="none", **SIZES),
    "hybrid": Shape("rsf", parts={"s": {"name": "attention", "heads": 2}}, **SIZES),
    "shared": Shape("[rsf]*2 s", parts={"s": {"name": "attention", "heads": 2}}, **SIZES),
    "shared with own norms": Shape("{rsf}*2 s", parts={"s": {"name": "attention", "heads": 2}}, **SIZES),
    "other letters": Shape("(AgB)*2", parts={"A": {"name": "attention", "heads": 2}, "g": "gru", "B": "mlp"}, **SIZES),
}
every = pytest.mark.parametrize("name", SHAPES)


def pair(name):
    ours = EngineStack(SHAPES[name], 11, np.random.default_rng(0))
    torch.manual_seed(1)
    theirs = Stack(SHAPES[name], 11)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return ours, theirs.eval()


def arrays(stack):
    """The weights of a torch stack as they lie in a file."""
    return {key: value.numpy() for key, value in weights.weights(stack).items()}


def agree(ours, theirs):
    ids = np.random.default_rng(2).integers(2, 11, size=(3, 21))
    mine, peer = EngineLanguageModel(ours, 0), NeuralLanguageModel(theirs, 0)
    np.testing.assert_allclose(mine.score(ids), peer.score(ids).numpy(), atol=1e-5)
    state, other = mine.start(3), peer.start(3)
    for column in ids.T:
        state, other = mine.advance(state, column), peer.advance(other, column)
        np.testing.assert_allclose(mine.log_probs(state), peer.log_probs(other).numpy(), atol=1e-5)
    np.testing.assert_allclose(mine.log_probs(mine.read(mine.start(3), ids)), mine.log_probs(state), atol=1e-5)


@every
def test_torch_reads_the_weights_of_the_engine(name):
    ours, theirs = pair(name)
    weights.put(theirs, exported(ours), "the engine")
    agree(ours, theirs)


@every
def test_the_engine_reads_the_weights_of_torch(name):
    ours, theirs = pair(name)
    imported(ours, arrays(theirs))
    agree(ours, theirs)


@every
def test_weights_survive_a_round_trip_through_torch(name):
    ours, theirs = pair(name)
    before = {key: value.copy() for key, value in exported(ours).items()}
    weights.put(theirs, exported(ours), "the engine")
    imported(ours, arrays(theirs))
    assert exported(ours).keys() == before.keys() == weights.weights(theirs).keys()
    for key, value in exported(ours).items():
        np.testing.assert_array_equal(value, before[key], err_msg=key)


@every
def test_rows_that_have_read_differently_much_go_on_together_in_the_engine(name):
    model, read = EngineLanguageModel(pair(name)[0], 0), (3, 12, 7)
    ids = np.random.default_rng(2).integers(2, 11, size=(3, 20))
    whole = model.score(ids)
    state = model.join([model.read(model.start(1), ids[b:b + 1, :length]) for b, length in enumerate(read)])
    for ahead in range(8):
        column = np.array([ids[b, length + ahead] for b, length in enumerate(read)])
        found = np.take_along_axis(model.log_probs(state), column[:, None], 1)[:, 0]
        np.testing.assert_allclose(found, [whole[b, length + ahead] for b, length in enumerate(read)], atol=1e-5)
        state = model.advance(state, column)


@every
def test_torch_starts_from_the_weights_of_the_engine_when_asked(name):
    started = new_network(SHAPES[name], 11, Plan(seed=5, initial="engine"))
    drawn = exported(EngineStack(SHAPES[name], 11, np.random.default_rng(5)))
    assert weights.weights(started).keys() == drawn.keys()
    for key, value in weights.weights(started).items():
        np.testing.assert_array_equal(value, drawn[key], err_msg=key)


def test_by_default_torch_draws_its_own_weights():
    one, again, other, engines = (new_network(SHAPES["gpt"], 11, Plan(seed=seed, initial=initial)).head.weight
                                  for seed, initial in ((5, "torch"), (5, "torch"), (6, "torch"), (5, "engine")))
    assert torch.equal(one, again) and not torch.equal(one, other) and not torch.equal(one, engines)


def test_an_initialization_that_the_engine_lacks_is_refused():
    shape = Shape(pattern="r", parts={"r": {"name": "elman", "recurrent": "identity"}})
    with pytest.raises(UsageError, match=r"training.initial = 'engine', expected 'torch' with model.r.recurrent"):
        new_network(shape, 11, Plan(initial="engine"))


def test_an_unsupported_dropout_does_not_prevent_the_initial_weights_of_the_engine():
    new_network(Shape(pattern="s", width=8, dropout="variational"), 11, Plan(initial="engine"))


def test_a_reader_of_both_sides_has_no_twin():
    with pytest.raises(UsageError, match="the engine reads in one direction. A task that reads both ways needs the"):
        EngineStack(Shape("sf", 12, 8, causal=False), 11, np.random.default_rng(0))
