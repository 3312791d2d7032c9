"""Writing on a CUDA device: steps that are replayed as a graph write what the model itself writes."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

pytest.importorskip("array_api_compat")

from chainrule.generation.decoder import decode  # noqa: E402
from chainrule.generation.rows import Marks  # noqa: E402
from chainrule.models.language import NeuralLanguageModel  # noqa: E402
from chainrule.models.shape import Shape  # noqa: E402
from chainrule.models.stack import Stack  # noqa: E402
from chainrule.models.writer import GraphWriter  # noqa: E402
from chainrule.parts.norms._summed import fused, summed  # noqa: E402
from chainrule.parts.place import Place  # noqa: E402
from chainrule.parts.reading import Reading  # noqa: E402
from chainrule.recipe.registry import build  # noqa: E402

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
SENTENCES = [("(sf)*2", "rotary"), ("(sf)*2", "learned"), ("(sf)*2", "alibi"), ("(rsf)*2", "none"), ("cfw", "none"),
             ("(lf)*2 s", "rotary"), ("[se]*2", "relative_bias")]
PARTS = {"l": {"name": "sliding_window", "window": 12}, "e": "mixture_of_experts"}


def made(pattern, position):
    torch.manual_seed(3)
    stack = Stack(Shape(pattern=pattern, width=64, context=48, position=position, parts=PARTS,
                        embedding={"name": "lookup", "deviation": 1.0}), 31)
    return NeuralLanguageModel(stack.cuda().eval(), 0)


@pytest.mark.parametrize("strategy", ["greedy", {"name": "sample", "seed": 5}, {"name": "beam", "beams": 2}])
@pytest.mark.parametrize(("pattern", "position"), SENTENCES)
def test_a_graph_writes_the_same_texts(pattern, position, strategy):
    model, prompts = made(pattern, position), np.array([[3, 5, 2], [7, 4, 4], [6, 6, 6]])
    plain, graphed = (decode(each, prompts, build("generation/strategies", strategy), marks=Marks(0, 1), max_tokens=120)
                      for each in (model, model.to_write()))
    for mine, theirs in zip(plain, graphed, strict=True):
        assert mine[0].written == theirs[0].written
        for one, other in zip(mine[1:], theirs[1:], strict=True):  # beams that are equally good may change places
            assert one.log_p == pytest.approx(other.log_p, rel=1e-6)


@pytest.mark.parametrize("filters", [
    [{"name": "temperature", "temperature": 0.8}, {"name": "top_k", "k": 5}], [{"name": "top_p", "p": 0.8}],
    ["repetition_penalty", {"name": "min_p", "share": 0.1}]])
def test_filters_in_the_graph_choose_what_filters_on_the_host_choose(filters):
    model, prompts = made("(sf)*2", "rotary"), np.array([[3, 5, 2], [7, 4, 4], [6, 6, 6]])
    chosen, filters = build("generation/strategies", "sample"), [build("generation/filters", each) for each in filters]
    plain, graphed = ([[draft.written for draft in drafts] for drafts in decode(
        each, prompts, chosen, marks=Marks(0, 1), max_tokens=120, filters=filters)]
        for each in (model, model.to_write()))
    assert graphed == plain


def test_a_recorded_prompt_gives_equal_bits():
    writer, ids = made("(sf)*2", "rotary").to_write(), torch.randint(2, 31, (3, 17))
    states = [writer.read(None, ids) for _ in range(4)]
    assert (3, 18) in writer._first
    assert all(torch.equal(states[0].hidden, each.hidden) for each in states[1:])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["layer", "rms"])
@pytest.mark.parametrize("width", [48, 768, 1000])
@torch.inference_mode()
def test_the_kernel_for_a_sum_and_its_norm_gives_what_the_two_operations_give(width, name, dtype):
    norm = build("parts/norms", name, Place(width)).to("cuda", dtype)
    for each in norm.parameters():
        each.add_(0.3 * torch.randn_like(each))
    x, added = (torch.randn(5, 1, width, device="cuda", dtype=dtype) for _ in range(2))
    (plain_sum, plain), (total, normed) = summed(norm, x, added), fused(norm.terms(), x, added)
    assert torch.equal(total, plain_sum)
    torch.testing.assert_close(normed, plain)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_fused_activation_gives_what_the_two_operations_give(dtype):
    body = build("parts/feedforwards", {"name": "mlp", "activation": "gelu_tanh"}, Place(64)).to("cuda", dtype)
    x = torch.randn(3, 1, 64, device="cuda", dtype=dtype)
    with torch.inference_mode():
        found, _ = body(x, None, Reading())
    with torch.no_grad(), torch.autocast("cuda", enabled=False):
        exact = F.gelu(body.inward(x).float(), approximate="tanh").to(dtype)  # rounded after the activation, not before
        expected = body.outward(exact)
    torch.testing.assert_close(found, expected, atol=0.02 if dtype == torch.bfloat16 else 1e-5, rtol=0.02)


def test_a_model_on_a_gpu_is_written_by_graphs():
    writer = made("(sf)*2", "rotary").to_write()
    assert isinstance(writer, GraphWriter)
    state = writer.start(2)
    for _ in range(20):
        state = writer.advance(state, torch.tensor([3, 4]))
    assert state.stack.lengths.data_ptr() == writer._single.state.lengths.data_ptr()
    assert torch.isfinite(writer.log_probs(state)[:, 1:]).all()
