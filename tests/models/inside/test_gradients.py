"""Gradients vanish, explode and are carried as theory says, and clipping tames them."""

import math

import pytest
import torch

from chainrule.models.inside.gradients import measure
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack

VOCABULARY, TIME = 31, 42
ELMAN = {"name": "elman", "recurrent": "uniform"}


def measured(pattern, *, clip=1.0, width=48, **shape):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    stack = Stack(Shape(pattern=pattern, width=width, context=64, **shape), VOCABULARY)
    ids = torch.randint(0, VOCABULARY, (8, TIME))
    return measure(stack, ids, clip=clip)


def reach(found, layer=0):
    """How much larger the gradient is at distance 30 than at distance 1."""
    return found.by_distance[layer][30] / found.by_distance[layer][1]


def test_in_an_elman_network_gradients_vanish():
    assert reach(measured("rr", wiring="plain", parts={"r": ELMAN})) < 1e-4


def test_in_an_elman_network_with_large_weights_gradients_explode_and_clipping_tames_them():
    found = measured("rr", wiring="plain", parts={"r": {**ELMAN, "gain": 8.0}})
    assert reach(found) > 1e4
    assert found.norm > 1e3 and found.clipped == 1.0


def test_a_long_short_term_memory_carries_gradients():
    found = measured("rr", wiring="plain", parts={"r": {"name": "lstm", "forget": 2.0}})
    assert 0.2 < reach(found) < 20
    assert reach(found) > 1e3 * reach(measured("rr", wiring="plain", parts={"r": ELMAN}))


def test_a_residual_stack_carries_gradients_through_depth_and_a_plain_one_does_not():
    tanh = {"name": "mlp", "activation": "tanh"}
    plain, residual = (measured("f*24", wiring=wiring, parts={"f": tanh}).by_layer for wiring in ("plain", "pre_norm"))
    assert plain[0] / plain[-1] < 1e-8
    assert 0.1 < residual[0] / residual[-1] < 100


def test_attention_carries_gradients_over_any_distance():
    assert 0.1 < reach(measured("(sf)*3", parts={"s": {"name": "attention", "heads": 4}})) < 10


def test_the_gradient_of_an_elman_network_is_the_product_of_its_jacobians():
    torch.manual_seed(1)
    stack = Stack(Shape(pattern="r", width=5, context=9, wiring="plain", norm="none", position="none",
                        parts={"r": "elman"}, head="untied"), 7).double()
    ids = torch.randint(0, 7, (1, 9))
    found = measure(stack, ids)
    w_x, w_h = (next(p for name, p in stack.named_parameters() if name.endswith(end)) for end in ("ih_l0", "hh_l0"))
    h, hidden = torch.zeros(5, dtype=torch.float64), []
    for id in ids[0, :-1]:
        h = torch.tanh(w_x @ stack.embedding.weight[id] + w_h @ h)
        hidden.append(h)
    error_V = stack.head.scores(h).softmax(-1) - torch.nn.functional.one_hot(ids[0, -1], 7)
    grad = stack.head.weight.T @ error_V
    for d in range(8):
        assert found.by_distance[0][d] == pytest.approx(grad.norm().item(), rel=1e-9)
        grad = w_h.T @ ((1 - hidden[-1 - d] ** 2) * grad)


def test_the_norms_of_layers_are_those_that_training_sees():
    torch.manual_seed(0)
    stack = Stack(Shape(pattern="sf", width=16, context=9, parts={"s": {"name": "attention", "heads": 2}}), 11).double()
    ids = torch.randint(0, 11, (3, 8))
    found = measure(stack, ids)
    hidden, _ = stack(ids[:, :-1])
    torch.nn.functional.cross_entropy(stack.head.scores(hidden).flatten(0, 1), ids[:, 1:].flatten()).backward()
    norm = torch.nn.utils.clip_grad_norm_(stack.parameters(), math.inf)
    assert found.norm == found.clipped == pytest.approx(float(norm), rel=1e-9)
    first = [p.grad.norm() for p in stack.sublayers[0].parameters()]
    assert found.by_layer[0] == pytest.approx(float(torch.stack(first).norm()), rel=1e-9)
    assert found.layers == ("0 attention", "1 swiglu")


def test_measuring_leaves_the_model_as_it_was():
    stack = Stack(Shape(pattern="r", width=8, context=9, wiring="plain"), 11)
    before = {name: tensor.clone() for name, tensor in stack.state_dict().items()}
    measure(stack, torch.randint(0, 11, (2, 7)))
    assert stack.training and all(p.grad is None and p.dtype == torch.float32 for p in stack.parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in stack.state_dict().items())
