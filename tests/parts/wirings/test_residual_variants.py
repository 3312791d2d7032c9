"""Parallel sublayers, stochastic depth, Fixup, ReZero with a norm, LayerScale: what a single sublayer does not show."""

import pytest
import torch
from torch import nn

from chainrule.errors import OptionError
from chainrule.models.cost.counting import counted
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.models.sublayer import sublayers
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, D, V, DEPTH = 2, 5, 12, 17, 16
IDS = torch.arange(B * T).view(B, T)


def stack_of(wiring, pattern="(sf)*2", **more):
    torch.manual_seed(0)
    stack = Stack(Shape(pattern=pattern, width=D, wiring=wiring, position="none", **more), V).double()
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return stack.eval()


def of_group(layers, x):
    """What each sublayer makes of the same stream, alone."""
    reading = Reading(position=build("parts/positions", "none", Place(D))).from_start(T, x.device)
    return [layer.body(layer.wiring.norm(x), None, reading)[0] for layer in layers]


@pytest.mark.parametrize(("pattern", "together"), [("(sf)*2", 2), ("(fsf)*2", 3), ("sfsff", 2), ("(sf)*2", 1)])
@torch.no_grad()
def test_neighbors_read_the_same_stream(pattern, together):
    stack = stack_of({"name": "parallel", "together": together}, pattern)
    x, layers = stack.embedding(IDS), list(stack.sublayers)
    for first in range(0, len(layers), together):
        x = x + sum(of_group(layers[first:first + together], x))
    torch.testing.assert_close(stack(IDS)[0], stack.norm(x))
    with watch() as seen:
        torch.testing.assert_close(stack(IDS)[0], stack.norm(x))
    torch.testing.assert_close(seen[f"sublayers.{len(layers) - 1}/output"][0], x)


def test_stream_parts_are_not_counted_as_neighbors():
    shape = Shape(pattern="(tsf)*2", width=D, wiring="parallel", parts={"t": "step_signal"})
    assert [wiring.first for wiring in Stack(shape, V).wirings] == [True, False, True, False]


@torch.no_grad()
def test_watched_neighbors_say_what_they_read_and_what_the_stream_is_after_them():
    stack = stack_of("parallel")
    with watch() as seen:
        stack(IDS)
    inward, outward = ([seen[f"sublayers.{n}/{name}"][0] for n in range(4)] for name in ("inward", "output"))
    assert torch.equal(inward[0], inward[1]) and torch.equal(inward[2], inward[3])
    torch.testing.assert_close(inward[2], outward[1])
    assert not torch.allclose(outward[0], outward[1])


def test_rows_skip_late_sublayers_more_often_and_the_mean_is_kept():
    torch.manual_seed(0)
    rows, skipped = 4000, []
    for index in (0, 7, 15):
        wiring = build("parts/wirings", {"name": "stochastic_depth", "rate": 0.5}, Place(D, DEPTH, index),
                       nn.Identity, nn.Identity)
        x = torch.zeros(rows, T, D)
        y, _ = wiring(x, lambda inward: (torch.ones_like(inward), None))
        rate = 0.5 * (index + 1) / DEPTH
        of_row = y[:, 0, 0]
        assert torch.equal(y, of_row[:, None, None].expand_as(y)), "a row is kept or skipped as a whole"
        torch.testing.assert_close(of_row.unique(), torch.tensor([0, 1 / (1 - rate)]))
        skipped.append((of_row == 0).float().mean().item())
        assert skipped[-1] == pytest.approx(rate, abs=0.03) and y.mean().item() == pytest.approx(1, abs=0.05)
        assert torch.equal(wiring.eval()(x, lambda inward: (torch.ones_like(inward), None))[0], torch.ones_like(x))
    assert skipped == sorted(skipped)


@torch.no_grad()
def test_outside_training_stochastic_depth_is_pre_norm():
    assert torch.equal(stack_of("stochastic_depth")(IDS)[0], stack_of("pre_norm")(IDS)[0])


def test_a_stack_in_training_skips_sublayers():
    stack = stack_of({"name": "stochastic_depth", "rate": 0.9}).train()
    found = torch.stack([stack(IDS)[0] for _ in range(6)])
    assert not torch.allclose(found[0], found[1:].mean(0))
    assert [layer.wiring.rate for layer in stack.sublayers] == pytest.approx([0.225, 0.45, 0.675, 0.9])


@pytest.mark.parametrize("choice", [{"name": "attention", "heads": 4}, {"name": "mlp"}, {"name": "swiglu"}])
def test_in_fixup_the_last_map_starts_at_nothing_and_those_before_it_small(choice):
    torch.manual_seed(0)
    kind = "mixers" if choice["name"] == "attention" else "feedforwards"
    alone = dict(build(f"parts/{kind}", choice, Place(D)).named_parameters())
    torch.manual_seed(0)
    sublayer, = sublayers(Shape(pattern="p", parts={"p": choice}, wiring="fixup"), Place(D, DEPTH))
    fixed = dict(sublayer.body.named_parameters())
    assert not fixed["outward.weight"].any() and sublayer.wiring.multiplier.item() == 1
    usual = 2 * D if choice["name"] == "attention" else 0  # queries and keys start as they would alone
    torch.testing.assert_close(fixed["inward.weight"][:usual], alone["inward.weight"][:usual])
    torch.testing.assert_close(fixed["inward.weight"][usual:], alone["inward.weight"][usual:] * DEPTH**-0.5)


@pytest.mark.parametrize("wiring", ["fixup", "rezero_norm"])
@pytest.mark.parametrize("pattern", ["(sf)*2", "rr"])
def test_a_stack_begins_as_its_embedding_and_learns(wiring, pattern):
    torch.manual_seed(0)
    stack = Stack(Shape(pattern=pattern, width=D, wiring=wiring, position="none"), V)
    y, _ = stack(IDS)
    torch.testing.assert_close(y, stack.norm(stack.embedding(IDS)))
    optimizer = torch.optim.SGD(stack.parameters(), lr=0.1)
    for _ in range(2):
        (stack(IDS)[0] * torch.linspace(-1, 1, D)).sum().backward()
        optimizer.step()
    assert not torch.allclose(stack(IDS)[0], stack.norm(stack.embedding(IDS)))
    for layer in stack.sublayers:
        assert any(each.grad.any() for each in layer.body.parameters())


def test_in_layer_scale_factors_start_small_and_take_the_place_of_smaller_weights():
    torch.manual_seed(0)
    shape = Shape(pattern="(sf)*8", width=96, wiring={"name": "layer_scale", "initial": 0.01})
    layer = Stack(shape, V).sublayers[1]
    assert torch.equal(layer.wiring.scale, torch.full((96,), 0.01))
    assert layer.body.outward.weight.std().item() == pytest.approx(layer.body.hidden**-0.5, rel=0.05)


@pytest.mark.parametrize(("wiring", "more"), [("rezero_norm", 1), ("fixup", 3), ("layer_scale", D),
                                              ("parallel", 0), ("stochastic_depth", 0), ("sandwich_norm", 0)])
def test_parameters_are_counted(wiring, more):
    found = {part.name: part for part in counted(Shape(pattern="(sf)*2", width=D, wiring=wiring), V)}
    assert (found[wiring].parameters if more else 0) == 4 * more
    norms = {"fixup": 0, "sandwich_norm": 9}.get(wiring, 5)
    assert (found["rms"].parameters if norms else 0) == norms * D


@pytest.mark.parametrize(("choice", "words"), [
    ({"name": "parallel", "together": 0}, "Parallel.together = 0, expected at least 1. With 1 it is pre_norm."),
    ({"name": "stochastic_depth", "rate": 1.0}, "StochasticDepth.rate = 1.0, expected at least 0 and below 1"),
    ({"name": "layer_scale", "initial": 0.0}, "LayerScale.initial = 0.0, expected another number than 0. For 0")])
def test_impossible_options_are_refused(choice, words):
    with pytest.raises(OptionError, match=words):
        build("parts/wirings", choice, Place(D), nn.Identity, nn.Identity)
