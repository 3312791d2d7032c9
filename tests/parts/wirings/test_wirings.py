"""Wirings equal their equations; DeepNorm and ReZero also say what a sublayer starts from."""

import pytest
import torch
from torch import nn

from chainrule.errors import OptionError
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.models.sublayer import sublayers
from chainrule.parts.losses import collected_losses
from chainrule.parts.place import Place
from chainrule.recipe.registry import build, kind_of, names

torch.set_num_threads(1)
B, T, D, V, DEPTH = 2, 5, 12, 17, 16
ALPHA, BETA = DEPTH**0.25, (4 * DEPTH) ** -0.25  # α = (2M)^(1/4) and β = (8M)^(−1/4) of M = DEPTH / 2 layers


class Halved(nn.Module):
    """A recognizable dropout: half of everything."""

    def forward(self, x):
        return x / 2


def norm():
    made = build("parts/norms", "layer", Place(D)).double()
    with torch.no_grad():
        made.gain.copy_(torch.linspace(0.5, 2, D))
    return made


EQUATIONS = {
    "plain": lambda x, f, norm: f(x) / 2,
    "plain_penalized": lambda x, f, norm: f(x) / 2,
    "residual": lambda x, f, norm: x + f(x) / 2,
    "pre_norm": lambda x, f, norm: x + f(norm(x)) / 2,
    "post_norm": lambda x, f, norm: norm(x + f(x) / 2),
    "deep_norm": lambda x, f, norm: norm(ALPHA * x + f(x) / 2),
    "rezero": lambda x, f, norm: x + 0.7 * f(x) / 2,
    "rezero_norm": lambda x, f, norm: x + 0.7 * f(norm(x)) / 2,
    "sandwich_norm": lambda x, f, norm: x + norm(f(norm(x))) / 2,
    "layer_scale": lambda x, f, norm: x + torch.linspace(-1, 2, D, dtype=x.dtype) * f(norm(x)) / 2,
    "fixup": lambda x, f, norm: x + 0.7 * f(x + 0.2) / 2 + 0.3,
    "parallel": lambda x, f, norm: x + f(norm(x)) / 2,
    "stochastic_depth": lambda x, f, norm: x + f(norm(x)) / 2,  # outside training
}
LEARNED = {"alpha": 0.7, "multiplier": 0.7, "before": 0.2, "behind": 0.3, "scale": torch.linspace(-1, 2, D)}
APART = {"hyper_connections", "dynamic_hyper_connections"}  # with several streams: a test of its own
NORMED = {"pre_norm", "rezero_norm", "sandwich_norm", "layer_scale", "parallel", "stochastic_depth",
          *APART}  # the stack ends with one more norm


def made(name):
    wiring = build("parts/wirings", name, Place(D, DEPTH), norm, Halved).double().eval()
    with torch.no_grad():
        for parameter_name, parameter in wiring.named_parameters(recurse=False):
            if parameter_name in LEARNED:
                parameter.copy_(torch.as_tensor(LEARNED[parameter_name]).expand_as(parameter))
    return wiring


@pytest.mark.parametrize("name", EQUATIONS)
def test_a_wiring_is_its_equation(name):
    wiring, x = made(name), torch.randn(B, T, D, dtype=torch.float64)
    y, state = wiring(x, lambda inward: (inward.sin(), "state"))
    torch.testing.assert_close(y, EQUATIONS[name](x, torch.sin, norm()))
    assert state == "state"


def test_every_wiring_has_its_equation_here():
    assert sorted({*EQUATIONS} | APART) == names("parts/wirings")


@pytest.mark.parametrize("name", sorted({*EQUATIONS} | APART))
def test_a_stream_that_no_wiring_has_normalized_ends_with_one_more_norm(name):
    stack = Stack(Shape(pattern="sf", width=D, wiring=name), V)
    assert made(name).ends_with_norm == (name in NORMED) == any(each.startswith("norm.")
                                                                for each, _ in stack.named_parameters())


def first_weights(choice):
    """Of the same sublayer with the same random numbers: alone, and in a deep stack with DeepNorm."""
    torch.manual_seed(0)
    alone = build(kind_of("parts/mixers|parts/feedforwards", choice["name"]), choice, Place(D))
    torch.manual_seed(0)
    deep = sublayers(Shape(pattern="p", parts={"p": choice}, wiring="deep_norm"), Place(D, DEPTH))[0].body
    return (dict(each.named_parameters()) for each in (alone, deep))


@pytest.mark.parametrize("name", ["mlp", "swiglu", "window", "gated_convolution", "lstm", "ugrnn", "elman"])
def test_in_deep_norm_all_matrices_of_a_sublayer_start_beta_as_large(name):
    """β takes the place of 1/√depth; biases stay as they are."""
    alone, deep = first_weights({"name": name})
    for each, weight in deep.items():
        torch.testing.assert_close(weight, alone[each] * (BETA if weight.dim() > 1 else 1))


@pytest.mark.parametrize("groups", [4, 2])
def test_in_deep_norm_values_and_outputs_start_smaller_but_not_queries_and_keys(groups):
    alone, deep = first_weights({"name": "attention", "heads": 4, "groups": groups})
    keys = D + groups * D // 4  # behind them lie the values
    assert len(alone["inward.weight"]) == keys + groups * D // 4
    torch.testing.assert_close(deep["inward.weight"][:keys], alone["inward.weight"][:keys])
    torch.testing.assert_close(deep["inward.weight"][keys:], BETA * alone["inward.weight"][keys:])
    torch.testing.assert_close(deep["outward.weight"], BETA * alone["outward.weight"])


def test_in_deep_norm_cross_attention_keeps_its_queries_and_keys_too():
    alone, deep = first_weights({"name": "cross_attention", "heads": 4})
    for name, first, last, factor in (("query", 0, D, 1), ("inward", 0, D, 1), ("inward", D, 2 * D, BETA),
                                      ("outward", 0, D, BETA)):
        rows = slice(first, last)
        torch.testing.assert_close(deep[f"{name}.weight"][rows], factor * alone[f"{name}.weight"][rows])


def test_a_stack_wires_its_sublayers_by_its_own_depth():
    stack = Stack(Shape(pattern="(sf)*8", width=D, wiring="deep_norm"), V)
    assert {layer.wiring.alpha for layer in stack.sublayers} == {ALPHA}
    spread = stack.sublayers[1].body.inward.weight.std().item()
    assert spread == pytest.approx(BETA * D**-0.5, rel=0.15)


def test_in_deep_norm_encoder_and_decoder_have_coefficients_of_their_own():
    """Wang et al. 2022, arXiv:2203.00555: N = 6 encoder layers, M = 4 decoder layers."""
    source = Shape(pattern="(sf)*6", width=D, wiring="deep_norm", causal=False)
    stack = Stack(Shape(pattern="(sxf)*4", width=D, wiring="deep_norm", source=source), V)
    assert {layer.wiring.alpha for layer in stack.sublayers} == {(3 * 4) ** 0.25}
    assert {layer.wiring.alpha for layer in stack.source.sublayers} == {0.81 * (6**4 * 4) ** (1 / 16)}
    decoder, encoder = (each.sublayers[-1].body.inward.weight.std().item() * D**0.5 for each in (stack, stack.source))
    assert decoder == pytest.approx((12 * 4) ** -0.25, rel=0.15)
    assert encoder == pytest.approx(0.87 * (6**4 * 4) ** (-1 / 16), rel=0.15)


def test_weights_that_are_shared_are_made_smaller_once():
    stack = Stack(Shape(pattern="[sf]*8", width=D, wiring="deep_norm"), V)
    assert stack.sublayers[1].body.inward.weight.std().item() == pytest.approx(BETA * D**-0.5, rel=0.15)


@pytest.mark.parametrize("name", sorted(({*EQUATIONS} | APART) - {"deep_norm", "fixup"}))
def test_other_wirings_leave_the_first_weights_alone(name):
    torch.manual_seed(0)
    body = build("parts/mixers", "attention", Place(D, DEPTH))
    before = [each.clone() for each in body.parameters()]
    made(name).initialize(body, Place(D, DEPTH))
    assert all(map(torch.equal, before, body.parameters()))


def test_in_rezero_every_sublayer_begins_switched_off_and_can_be_switched_on():
    torch.manual_seed(0)
    stack = Stack(Shape(pattern="(sf)*2", width=D, wiring="rezero", position="none"), V)
    ids = torch.arange(8).view(2, 4)
    y, _ = stack(ids)
    assert torch.equal(y, stack.embedding(ids))
    (y * torch.randn_like(y)).sum().backward()
    for layer in stack.sublayers:
        assert layer.wiring.alpha.grad.any() and not any(each.grad.any() for each in layer.body.parameters())
        nn.init.ones_(layer.wiring.alpha)
    assert not torch.allclose(stack(ids)[0], y)


@pytest.mark.parametrize("index", [0, DEPTH - 1])
def test_a_penalized_wiring_adds_the_size_and_the_change_of_the_last_output(index):
    wiring = build("parts/wirings", {"name": "plain_penalized", "activation": 3.0, "temporal": 0.5},
                   Place(D, DEPTH, index), norm, Halved).double()
    x = torch.randn(B, T, D, dtype=torch.float64)
    with collected_losses() as added:
        wiring(x, lambda inward: (inward.sin(), None))
    if index == 0:
        assert not added, "only the last sublayer is penalized"
        return
    raw = x.sin()
    size = sum((raw[b, t, d] / 2) ** 2 for b in range(B) for t in range(T) for d in range(D)) / (B * T * D)
    change = sum((raw[b, t, d] - raw[b, t - 1, d]) ** 2 for b in range(B) for t in range(1, T) for d in range(D))
    torch.testing.assert_close(added, {"activation": 3.0 * size, "temporal": 0.5 * change / (B * (T - 1) * D)})
    with collected_losses() as added:
        wiring.eval()(x, lambda inward: (inward.sin(), None))
    assert not added


@pytest.mark.parametrize("option", ["activation", "temporal"])
def test_a_penalty_below_zero_is_refused(option):
    with pytest.raises(OptionError, match=f"PlainPenalized.{option} = -1.0, expected at least 0. 0 leaves it out"):
        build("parts/wirings", {"name": "plain_penalized", option: -1.0}, Place(D), norm, Halved)
