"""On a CPU a torch model writes by the engine's twin of it: the same texts, sooner."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from chainrule.generation.decoder import decode  # noqa: E402
from chainrule.generation.rows import Marks  # noqa: E402
from chainrule.models import writing  # noqa: E402
from chainrule.models.engine_language import EngineLanguageModel  # noqa: E402
from chainrule.models.language import NeuralLanguageModel  # noqa: E402
from chainrule.models.shape import Shape  # noqa: E402
from chainrule.models.stack import Stack  # noqa: E402
from chainrule.recipe.registry import build  # noqa: E402

SHAPES = {
    "transformer": {"pattern": "(sf)*2"},
    "gpt": {"pattern": "(sf)*2", "norm": "layer", "position": "learned", "parts": {
        "s": {"name": "attention", "heads": 2, "bias": True}, "f": {"name": "mlp", "activation": "gelu"}}},
    "elman": {"pattern": "rr", "parts": {"r": "elman"}, "position": "none"},
    "lstm": {"pattern": "rr", "parts": {"r": "lstm"}, "position": "none"},
    "nnlm": {"pattern": "wf", "parts": {"f": {"name": "mlp", "activation": "tanh"}}, "position": "none",
             "head": "untied"},
    "shared": {"pattern": "[sf]*2"},
}
LACKING = {
    "a convolution": {"pattern": "cf"},
    "post-norm": {"wiring": "post_norm"},
    "grouped queries": {"parts": {"s": {"name": "attention", "heads": 4, "groups": 2}}},
    "a sliding window": {"parts": {"s": "sliding_window"}},
    "experts": {"parts": {"f": "mixture_of_experts"}},
    "an adaptive softmax": {"head": "adaptive"},
}


def model(**shape):
    torch.manual_seed(3)
    stack = Stack(Shape(**{"pattern": "sf", "width": 16, "context": 12, **shape}), 23)
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return NeuralLanguageModel(stack.eval(), 0)


def texts(of, strategy):
    prompts = np.array([[3, 4], [5, 6], [7, 8]])
    found = decode(of, prompts, build("generation/strategies", strategy), marks=Marks(0, 1), max_tokens=30)
    return [[draft.ids for draft in drafts] for drafts in found]


@pytest.mark.parametrize("strategy", ["greedy", {"name": "sample", "seed": 4}, {"name": "beam", "beams": 3}])
@pytest.mark.parametrize("name", SHAPES)
def test_the_twin_writes_the_same_texts(name, strategy):
    of = model(**SHAPES[name])
    twin = of.to_write()
    assert isinstance(twin, EngineLanguageModel)
    assert texts(twin, strategy) == texts(of, strategy)


@pytest.mark.parametrize("name", LACKING)
def test_a_model_that_the_engine_lacks_generates_in_torch(name):
    of = model(**LACKING[name])
    assert of.to_write() is of


def test_a_large_model_generates_in_torch(monkeypatch):
    of = model()
    monkeypatch.setattr(writing, "MOST", sum(each.numel() for each in of.stack.parameters()) - 1)
    assert of.to_write() is of


def test_the_twin_has_the_numbers_of_its_model():
    of = model()
    of.stack.double()
    twin, ids = of.to_write(), np.array([[3, 4, 5]])
    assert twin.score(ids).dtype == np.float64
    np.testing.assert_allclose(twin.score(ids), of.score(ids).numpy(), atol=1e-12)


def test_a_model_that_is_trained_further_gets_a_new_twin():
    of, ids = model(), np.array([[3, 4, 5]])
    before = of.to_write().score(ids)
    with torch.no_grad():
        of.stack.embedding.weight[4] += 1
    after = of.to_write().score(ids)
    assert not np.allclose(before, after, atol=1e-3)
    np.testing.assert_allclose(after, of.score(ids).numpy(), atol=1e-5)


def test_a_writer_is_made_of_a_shape_and_weights_without_the_model():
    of, ids = model(**SHAPES["gpt"]), np.array([[3, 4, 5]])
    weights = {name: each.detach().numpy() for name, each in of.stack.named_parameters()}
    np.testing.assert_allclose(writing.engine_writer(of.stack.shape, weights, 0).score(ids), of.score(ids).numpy(),
                               atol=1e-5)


def test_weights_of_another_model_make_no_writer():
    of, other = model(**SHAPES["gpt"]), model(**SHAPES["lstm"])
    weights = {name: each.detach().numpy() for name, each in other.stack.named_parameters()}
    assert writing.engine_writer(of.stack.shape, weights, 0) is None
    assert writing.engine_writer(of.stack.shape, {}, 0) is None
