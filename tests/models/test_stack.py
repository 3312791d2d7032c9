"""A stack of a thousand layers: built, trained for a step, looked into and counted, without running out of stack."""

import torch

from chainrule.models.cost.counting import parameters
from chainrule.models.inside.gradients import measure
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack

LAYERS, V = 1000, 13
SHAPE = Shape(f"(sf)*{LAYERS}", 8, 6, parts={"s": {"name": "attention", "heads": 2}, "f": {"name": "mlp", "hidden": 8}},
              wiring="deep_norm", norm="layer")


def test_a_thousand_layers_learn_and_show_the_gradients_of_each():
    torch.manual_seed(0)
    stack, ids = Stack(SHAPE, V), torch.randint(V, (2, 6))
    assert len(stack.sublayers) == 2 * LAYERS
    assert parameters(SHAPE, V) == sum(each.numel() for each in stack.parameters())
    before = stack.sublayers[0].body.outward.weight.clone()
    hidden, _ = stack(ids[:, :-1])
    stack.head.loss(hidden, ids[:, 1:]).backward()
    torch.optim.SGD(stack.parameters(), 0.1).step()
    assert not torch.equal(stack.sublayers[0].body.outward.weight, before)
    found = measure(stack, ids)
    assert len(found.by_layer) == len(found.by_distance) == 2 * LAYERS
    assert all(0 < norm < float("inf") for norm in found.by_layer)
    model = NeuralLanguageModel(stack.eval(), 0)
    written = model.log_probs(model.advance(model.start(2), ids[:, 0])).gather(1, ids[:, 1:2])[:, 0]
    torch.testing.assert_close(written, model.score(ids[:, :2])[:, 1], atol=1e-4, rtol=1e-4)
