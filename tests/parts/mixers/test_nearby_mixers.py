"""Convolutions and windows equal loops written from their equations, before and on both sides."""

import pytest
import torch
from torch import nn

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, D = 3, 7, 5


def place(x, t):
    return x[t] if 0 <= t < len(x) else torch.zeros_like(x[0])


def at_once(weight, x, t, size, causal):
    """Σ_k W_k x_{t−k}, with what lies outside of the text at 0."""
    first = t - (size - 1 if causal else (size - 1) // 2)
    parts = weight.unflatten(1, (size, D)).unbind(1)
    return sum(part @ place(x, first + n) for n, part in enumerate(parts))


def made(name, **options):
    torch.manual_seed(0)
    mixer = build("parts/mixers", {"name": name, **options}, Place(D, 3)).double()
    with torch.no_grad():
        for parameter in mixer.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return mixer


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("kernel", [1, 2, 3, 4, 11])
def test_a_gated_convolution_is_its_equation(kernel, causal):
    mixer, x = made("gated_convolution", kernel=kernel), torch.randn(B, T, D, dtype=torch.float64)
    y = mixer(x, None, Reading(causal))[0]
    (W, V), (b, c) = mixer.inward.weight.chunk(2), mixer.inward.bias.chunk(2)
    for row, found in zip(x, y, strict=True):
        for t in range(T):
            gate = torch.sigmoid(at_once(V, row, t, kernel, causal) + c)
            torch.testing.assert_close(found[t], (at_once(W, row, t, kernel, causal) + b) * gate)


def test_a_causal_convolution_is_torchs_with_zeros_before():
    mixer, x = made("gated_convolution", kernel=4), torch.randn(B, T, D, dtype=torch.float64)
    weight = mixer.inward.weight.unflatten(1, (4, D)).transpose(1, 2)
    both = nn.functional.conv1d(nn.functional.pad(x.transpose(1, 2), (3, 0)), weight, mixer.inward.bias)
    torch.testing.assert_close(mixer(x, None, Reading())[0], nn.functional.glu(both, dim=1).transpose(1, 2))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 11])
def test_a_window_is_its_equation(size, causal):
    mixer, x = made("window", size=size), torch.randn(B, T, D, dtype=torch.float64)
    y = mixer(x, None, Reading(causal))[0]
    for row, found in zip(x, y, strict=True):
        for t in range(T):
            wanted = at_once(mixer.outward.weight, row, t, size, causal) + mixer.outward.bias
            torch.testing.assert_close(found[t], wanted)


def test_a_window_forgets_what_has_left_it():
    mixer, x = made("window", size=3), torch.randn(B, T, D, dtype=torch.float64)
    changed = x.clone()
    changed[:, 1] += 1
    same = (mixer(x, None, Reading())[0] == mixer(changed, None, Reading())[0]).all(-1)
    assert same[:, 0].all() and not same[:, 1:4].any() and same[:, 4:].all()


def test_watching_shows_the_gate_and_the_share_of_each_place():
    x = torch.randn(B, T, D, dtype=torch.float64)
    convolution, window = made("gated_convolution", kernel=3), made("window", size=3)
    with watch() as seen:
        y = convolution(x, None, Reading())[0]
        window(x, None, Reading())
    torch.testing.assert_close(seen["gate"][0] * seen["value"][0], y)
    shares = seen["contribution"][0]
    assert shares.shape == (B, T, 3) and not shares[:, 0, :2].any()  # nothing lies before the first token
    torch.testing.assert_close(shares[:, :, 2], (x @ window.outward.weight[:, 2 * D:].T).norm(dim=-1))


def test_convolutions_start_so_that_they_keep_the_variance():
    torch.manual_seed(0)
    mixer, x = build("parts/mixers", {"name": "gated_convolution", "kernel": 3}, Place(128)), torch.randn(2, 300, 128)
    assert mixer(x, None, Reading())[0][:, 2:].std().item() == pytest.approx(1, abs=0.15)
    deeper = build("parts/mixers", {"name": "gated_convolution", "kernel": 3}, Place(128, 16))
    assert deeper(x, None, Reading())[0][:, 2:].std().item() == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize(("name", "option", "where"), [("window", "size", "Window.size"),
                                                       ("gated_convolution", "kernel", "GatedConvolution.kernel")])
def test_a_window_without_a_place_is_refused(name, option, where):
    with pytest.raises(OptionError, match=f"{where} = 0, expected at least 1. 1 looks at a single token."):
        build("parts/mixers", {"name": name, option: 0}, Place(D))
