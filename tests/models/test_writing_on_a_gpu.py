"""Writing on a CUDA device: steps that are replayed as a graph write what the model itself writes."""

import numpy as np
import pytest
import torch

pytest.importorskip("array_api_compat")

from chainrule.generation.decode import Marks, decode  # noqa: E402
from chainrule.models.fixed import FixedWriter, Held  # noqa: E402
from chainrule.models.language import NeuralLanguageModel  # noqa: E402
from chainrule.models.stack import Shape, Stack  # noqa: E402
from chainrule.recipe.registry import build  # noqa: E402

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
SENTENCES = [("(sf)*2", "rotary"), ("(sf)*2", "learned"), ("(sf)*2", "alibi"), ("(rsf)*2", "none"), ("cfw", "none")]


def made(pattern, position):
    torch.manual_seed(3)
    stack = Stack(Shape(pattern=pattern, width=64, context=48, position=position,
                        embedding={"name": "lookup", "deviation": 1.0}), 31)
    return NeuralLanguageModel(stack.cuda().eval(), 0)


@pytest.mark.parametrize("strategy", ["greedy", {"name": "sample", "seed": 5}, {"name": "beam", "beams": 2}])
@pytest.mark.parametrize(("pattern", "position"), SENTENCES)
def test_a_graph_writes_the_same_texts(pattern, position, strategy):
    model, prompts = made(pattern, position), np.array([[3, 5, 2], [7, 4, 4], [6, 6, 6]])
    plain, graphed = ([[draft.written for draft in drafts] for drafts in decode(
        each, prompts, build("generation/strategies", strategy), marks=Marks(0, 1), max_tokens=120)]
        for each in (model, model.to_write()))
    assert graphed == plain


def test_a_model_on_a_gpu_is_written_by_graphs():
    writer = made("(sf)*2", "rotary").to_write()
    assert isinstance(writer, FixedWriter)
    state = writer.start(2)
    for _ in range(20):
        state = writer.advance(state, torch.tensor([3, 4]))
    assert isinstance(state.stack, Held)
    assert torch.isfinite(writer.log_probs(state)[:, 1:]).all()
