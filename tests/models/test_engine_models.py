"""Weights of the engine and of torch are interchangeable: the same file gives the same log-probabilities, both ways."""

import numpy as np
import pytest

from chainrule.models.engine_language import EngineLanguageModel
from chainrule.models.engine_stack import EngineShape, EngineStack, exported, imported

torch = pytest.importorskip("torch")
from chainrule.models.language import NeuralLanguageModel  # noqa: E402
from chainrule.models.stack import Shape, Stack  # noqa: E402
from chainrule.training import weights  # noqa: E402

SIZES = {"width": 12, "context": 8, "deviation": 0.5}
SHAPES = {
    "transformer": EngineShape("(sf)*2", heads=3, **SIZES),
    "gpt": EngineShape("(sf)*2", heads=2, norm="layer", position="learned", feedforward="gelu_tanh",
                       head="untied", **SIZES),
    "elman": EngineShape("rr", recurrence="elman", position="none", **SIZES),
    "ugrnn": EngineShape("rr", recurrence="ugrnn", position="none", wiring="residual", norm="none", **SIZES),
    "gru": EngineShape("rr", recurrence="gru", position="none", wiring="plain", norm="none", **SIZES),
    "lstm": EngineShape("rf", recurrence="lstm", position="none", **SIZES),
    "nnlm": EngineShape("wf", window=3, feedforward="tanh", position="none", **SIZES),
    "hybrid": EngineShape("rsf", heads=2, recurrence="lstm", **SIZES),
}


def in_torch(shape):
    """The shape of the torch stack with the same weights."""
    plain = shape.feedforward == "swiglu"
    return Shape(pattern=shape.pattern, width=shape.width, context=shape.context,
                 s={"name": "attention", "heads": shape.heads}, r=shape.recurrence,
                 w={"name": "window", "size": shape.window},
                 f="swiglu" if plain else {"name": "mlp", "activation": shape.feedforward}, norm=shape.norm,
                 wiring=shape.wiring, position=shape.position, head=shape.head,
                 embedding={"name": "lookup", "deviation": shape.deviation})


def pair(name):
    ours = EngineStack(SHAPES[name], 11, np.random.default_rng(0))
    torch.manual_seed(1)
    theirs = Stack(in_torch(SHAPES[name]), 11)
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
