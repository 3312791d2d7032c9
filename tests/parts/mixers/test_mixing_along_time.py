"""Fourier mixing, MLP-Mixer and gMLP equal loops written from their equations, in texts of any length."""

import cmath
import math

import pytest
import torch
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build

torch.set_num_threads(1)
B, T, D, CONTEXT = 3, 7, 5, 11
LENGTHS = torch.tensor([7, 1, 4])


def made(name, causal=True, **options):
    torch.manual_seed(0)
    mixer = build("parts/mixers", {"name": name, **options}, Place(D, 3, context=CONTEXT, causal=causal)).double()
    with torch.no_grad():
        for parameter in mixer.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return mixer


def fourier(x):
    """y_{tk} = Re Σ_{s,d} exp(−2πi ts/T) x_{sd} exp(−2πi dk/D) / √(T D)"""
    time = len(x)
    turn = [[sum(cmath.exp(-2j * math.pi * (t * s / time + d * k / D)) * x[s, d].item()
                 for s in range(time) for d in range(D)).real for k in range(D)] for t in range(time)]
    return torch.tensor(turn, dtype=x.dtype) / math.sqrt(time * D)


def test_fourier_mixing_is_its_equation():
    mixer, x = made("fourier", causal=False), torch.randn(B, T, D, dtype=torch.float64)
    y = mixer(x, None, Reading(causal=False))[0]
    for row, found in zip(x, y, strict=True):
        torch.testing.assert_close(found, fourier(row))


def test_padded_rows_are_transformed_by_their_own_length():
    mixer, x = made("fourier", causal=False), torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    y = mixer(x, None, Reading(causal=False, lengths=LENGTHS))[0]
    for row, found, length in zip(x, y, LENGTHS, strict=True):
        torch.testing.assert_close(found[:length], fourier(row[:length]))
    assert not torch.autograd.grad(y[2, :4].sum(), x)[0][2, 4:].any()


def test_a_long_padded_text_is_transformed_exactly_in_single_precision():
    mixer, x = build("parts/mixers", "fourier", Place(4, causal=False)), torch.randn(1, 1500, 4)
    padded = mixer(F.pad(x, (0, 0, 0, 7)), None, Reading(causal=False, lengths=torch.tensor([1500])))[0]
    torch.testing.assert_close(padded[:, :1500], mixer(x, None, Reading(causal=False))[0], atol=1e-5, rtol=0)


def test_fourier_mixing_twice_is_the_text_backward():
    """The transform of the whole transform; its real part alone gives half of it, and half of the text itself."""
    mixer, x = made("fourier", causal=False), torch.randn(B, T, D, dtype=torch.float64)
    twice = mixer(mixer(x, None, Reading(causal=False))[0], None, Reading(causal=False))[0]
    turned = x.flip(1, 2).roll((1, 1), (1, 2))
    torch.testing.assert_close(twice, (x + turned) / 2)


def along(layer, x, causal):
    """b_t + Σ_s W_{t,s} x_s over s ≤ t, or over all s"""
    return torch.stack([layer.bias[t] + sum(layer.weight[t, s] * x[s] for s in range(t + 1 if causal else len(x)))
                        for t in range(len(x))])


def mlp_mixer(x, mixer, causal):
    return along(mixer.second, F.gelu(along(mixer.first, x, causal)), causal)


def gmlp(x, mixer, causal):
    hidden = F.gelu(x @ mixer.inward.weight.T + mixer.inward.bias)
    value, given = hidden[:, :mixer.inner], hidden[:, mixer.inner:]
    centered = given - given.mean(-1, keepdim=True)
    normed = centered / torch.sqrt((centered**2).mean(-1, keepdim=True) + 1e-5) * mixer.norm.weight + mixer.norm.bias
    return (value * along(mixer.along, normed, causal)) @ mixer.outward.weight.T + mixer.outward.bias


each = pytest.mark.parametrize("by_hand", [mlp_mixer, gmlp])


@pytest.mark.parametrize("causal", [True, False])
@each
def test_a_network_over_positions_is_its_equation(by_hand, causal):
    mixer, x = made(by_hand.__name__, causal), torch.randn(B, T, D, dtype=torch.float64)
    y = mixer(x, None, Reading(causal, lengths=LENGTHS))[0]
    for row, found, length in zip(x, y, LENGTHS, strict=True):
        torch.testing.assert_close(found[:length], by_hand(row[:length], mixer, causal))


@each
def test_decoding_keeps_what_was_read(by_hand):
    mixer, x = made(by_hand.__name__), torch.randn(B, T, D, dtype=torch.float64)
    state, found = mixer.start(B, 2, x), []
    with torch.no_grad():
        for t in range(T):
            y, state = mixer(x[:, t:t + 1], state, Reading().after(torch.full((B,), t), 1))
            found.append(y)
    torch.testing.assert_close(torch.cat(found, dim=1), torch.stack([by_hand(row, mixer, True) for row in x]))


@each
def test_a_text_beyond_the_context_is_refused(by_hand):
    mixer = made(by_hand.__name__)
    with pytest.raises(OptionError, match="model.context = 11, expected at least 12, the positions that are read at"):
        mixer(torch.randn(1, 12, D, dtype=torch.float64), None, Reading())


def test_every_position_of_a_fresh_mixer_has_the_same_variance():
    torch.manual_seed(0)
    mixer, x = build("parts/mixers", "mlp_mixer", Place(2000, context=64)), torch.randn(1, 64, 2000)
    hidden = mixer.first(x, None, Reading())[0][0].std(-1)
    assert hidden.min() > 0.2 and 0.8 < hidden[32:].mean() < 1.2 and hidden.max() < 3
    assert mixer.first.weight[0, 0].abs() > mixer.first.weight[63].abs().mean()


def test_a_fresh_gmlp_is_nearly_a_plain_feedforward():
    torch.manual_seed(0)
    mixer, x = build("parts/mixers", "gmlp", Place(16, context=CONTEXT)), torch.randn(B, CONTEXT, 16)
    plain = mixer.outward(F.gelu(mixer.inward(x)).chunk(2, dim=-1)[0])
    torch.testing.assert_close(mixer(x, None, Reading())[0], plain, atol=0.02, rtol=0)
    with pytest.raises(OptionError, match="GMLP.expand = 0, expected at least 1"):
        build("parts/mixers", {"name": "gmlp", "expand": 0}, Place(16))
