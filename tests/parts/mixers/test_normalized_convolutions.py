"""Lightweight and dynamic convolutions equal loops written from their equations, before and on both sides."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, D, HEADS = 2, 7, 6, 3
NAMES = ("lightweight_convolution", "dynamic_convolution")


def made(name, **options):
    torch.manual_seed(0)
    mixer = build("parts/mixers", {"name": name, "heads": HEADS, **options}, Place(D, 3)).double()
    with torch.no_grad():
        for parameter in mixer.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return mixer


def by_the_definition(x, mixer, causal):
    """s_{t,d} = Σ_k softmax(K_h)_k u_{t−k,d} with what lies outside of the text at 0; K_h u_t where it is dynamic."""
    value, gate = (x @ mixer.inward.weight.T + mixer.inward.bias).chunk(2, dim=-1)
    u, kernel = value * torch.sigmoid(gate), mixer.kernel
    s = torch.zeros_like(u)
    for t in range(len(x)):
        first = t - (kernel - 1 if causal else (kernel - 1) // 2)
        for d in range(D):
            head = d // (D // HEADS)
            scores = mixer.weight[head, 0] if hasattr(mixer, "weight") else (
                mixer.weights.weight[head * kernel:(head + 1) * kernel] @ u[t])
            for k, weight in enumerate(torch.softmax(scores, 0)):
                if 0 <= first + k < len(x):
                    s[t, d] += weight * u[first + k, d]
    return s @ mixer.outward.weight.T + mixer.outward.bias


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("kernel", [1, 2, 3, 4, 11])
@pytest.mark.parametrize("name", NAMES)
def test_a_convolution_is_its_equation(name, kernel, causal):
    mixer, x = made(name, kernel=kernel), torch.randn(B, T, D, dtype=torch.float64)
    y = mixer(x, None, Reading(causal))[0]
    for row, found in zip(x, y, strict=True):
        torch.testing.assert_close(found, by_the_definition(row, mixer, causal))


def test_a_long_text_in_blocks_is_its_equation():
    mixer, x = made("dynamic_convolution", kernel=5), torch.randn(1, 150, D, dtype=torch.float64, requires_grad=True)
    y = mixer(x, None, Reading())[0]
    torch.testing.assert_close(y[0], by_the_definition(x[0], mixer, True))
    alone = mixer(x[:, :100], None, Reading())[0]
    torch.testing.assert_close(torch.autograd.grad(y[:, 90].sum(), x)[0][:, :100],
                               torch.autograd.grad(alone[:, 90].sum(), x)[0][:, :100])


@pytest.mark.parametrize("name", NAMES)
def test_weights_of_a_head_sum_to_one_and_dropout_leaves_some_out(name):
    mixer, x = made(name, dropout=0.5), torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        y = mixer.eval()(x, None, Reading())[0]
    weights = seen["kernel"][0]
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    assert weights.shape[-2:] == (HEADS, 7) and torch.equal(mixer(x, None, Reading())[0], y)
    assert not torch.allclose(mixer.train()(x, None, Reading())[0], y)


def test_only_the_dynamic_kernel_depends_on_the_token():
    x = torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        made("dynamic_convolution")(x, None, Reading())
        made("lightweight_convolution")(x, None, Reading())
    dynamic, fixed = seen["kernel"]
    assert dynamic.shape == (B, T, HEADS, 7) and not torch.allclose(dynamic[:, 0], dynamic[:, 1])
    assert fixed.shape == (B, HEADS, 7)


@pytest.mark.parametrize(("options", "message"), [
    ({"kernel": 0}, "LightweightConvolution.kernel = 0, expected at least 1. 1 looks at a single token."),
    ({"heads": 4}, "LightweightConvolution.heads = 4, expected a divisor of width 6"),
    ({"dropout": 1.0}, "LightweightConvolution.dropout = 1.0, expected at least 0 and less than 1")])
def test_wrong_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        made("lightweight_convolution", **options)
