"""Attention, gates and hidden states of any layer of a stack can be seen, and watching changes no number."""

import pytest
import torch

from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.recipe.registry import find, names
from chainrule.watching import watch

IDS = torch.arange(14).reshape(2, 7)
SHOWN = {"attention": "attention", "lstm": "forget_gate", "lstm_linear_output": "output_gate", "gru": "update_gate",
         "elman": "hidden"}


def made(pattern, **shape):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return Stack(Shape(pattern=pattern, width=12, context=9, **shape), 17)


def test_noted_values_are_named_by_layer():
    with watch() as seen:
        made("rsf", parts={"s": {"name": "attention", "heads": 3}})(IDS)
    assert {"sublayers.0/forget_gate", "sublayers.0/hidden", "sublayers.1/attention", "sublayers.2/output"} <= set(seen)
    assert seen["sublayers.1/attention"][0].shape == (2, 3, 7, 7)
    assert all(len(values) == 1 for values in seen.values())


@pytest.mark.parametrize("name", [
    name for name in names("parts/mixers") if not getattr(find("parts/mixers", name), "needs_source", False)])
def test_every_layer_shows_its_output(name):
    causal = getattr(find("parts/mixers", name), "reads", "either") != "both ways"
    stack = made("(mf)*2", parts={"m": name}, causal=causal)
    with watch() as seen:
        whole, _ = stack(IDS)
    for n in range(4):
        assert seen[f"sublayers.{n}/output"][0].shape == (2, 7, 12)
    if name in SHOWN:
        assert {f"sublayers.{n}/{SHOWN[name]}" for n in (0, 2)} <= set(seen)
    torch.testing.assert_close(stack.norm(seen["sublayers.3/output"][0]), whole)


def test_attention_weights_sum_to_one_over_what_came_before():
    with watch() as seen:
        made("s*2")(IDS)
    weight = seen["sublayers.1/attention"][0]
    torch.testing.assert_close(weight.sum(-1), torch.ones_like(weight.sum(-1)))
    assert not weight.triu(1).any()


@pytest.mark.parametrize("pattern", ["(sf)*2", "rr"])
def test_watching_changes_no_number(pattern):
    stack = made(pattern)
    with watch():
        watched, _ = stack(IDS)
    torch.testing.assert_close(stack(IDS)[0], watched, rtol=1e-5, atol=1e-6)


def test_without_watching_a_compiler_sees_one_graph():
    stack = made("(sf)*2")
    compiled = torch.compile(stack, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(IDS)[0], stack(IDS)[0])
