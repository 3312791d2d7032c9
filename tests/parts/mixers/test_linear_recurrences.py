"""Recurrences whose gates see only the input equal loops written from their equations, in both directions."""

import math

import pytest
import torch
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.mixers import selective_state_space
from chainrule.parts.mixers.rwkv import Means, weighted_mean
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, D = 3, 19, 10
sigmoid = torch.sigmoid


def g(x):
    return torch.tensor([each + 0.5 if each >= 0 else 1 / (1 + math.exp(-each)) for each in x.tolist()], dtype=x.dtype)


def min_gru(x, cell):
    """h_t = (1 − z_t) ⊙ h_{t−1} + z_t ⊙ g(W x_t + b),  z_t = σ(W′ x_t + b′)"""
    (W, W_), (b, b_) = cell.inward.weight.chunk(2), cell.inward.bias.chunk(2)
    h = torch.zeros(cell.hidden, dtype=x.dtype)
    for x_t in x:
        z = sigmoid(W_ @ x_t + b_)
        h = (1 - z) * h + z * g(W @ x_t + b)
        yield h


def min_lstm(x, cell):
    """h_t = f/(f + i) ⊙ h_{t−1} + i/(f + i) ⊙ g(W x_t + b)"""
    W, b = cell.inward.weight.chunk(3), cell.inward.bias.chunk(3)
    h = torch.zeros(cell.hidden, dtype=x.dtype)
    for x_t in x:
        f, i = sigmoid(W[1] @ x_t + b[1]), sigmoid(W[2] @ x_t + b[2])
        h = f / (f + i) * h + i / (f + i) * g(W[0] @ x_t + b[0])
        yield h


def convolved(u, convolution):
    kernel = len(convolution.weight)
    for t in range(len(u)):
        yield convolution.bias + sum(convolution.weight[k, 0] * u[t - k] for k in range(kernel) if t >= k)


def gated_linear_recurrence(x, cell):
    """h_t = a_t ⊙ h_{t−1} + √(1 − a_t²) ⊙ i_t ⊙ u_t,  a_t = σ(Λ)^{8 r_t},  y_t = W_o (GeLU(W_g x_t) ⊙ h_t)"""
    (W_u, W_g), (b_u, b_g) = cell.inward.weight.chunk(2), cell.inward.bias.chunk(2)
    h = torch.zeros(cell.hidden, dtype=x.dtype)
    for x_t, u_t in zip(x, convolved(x @ W_u.T + b_u, cell.convolution), strict=True):
        r, i = sigmoid(cell.gates.weight @ u_t + cell.gates.bias).chunk(2)
        a = sigmoid(cell.decay) ** (8 * r)
        h = a * h + torch.sqrt(1 - a**2) * i * u_t
        yield cell.outward.weight @ (F.gelu(W_g @ x_t + b_g) * h) + cell.outward.bias


def selective(x, cell):
    """h_t = exp(Δ_t A) ⊙ h_{t−1} + Δ_t u_t B_tᵀ,  s_t = h_t C_t + E ⊙ u_t,  y_t = W_o (s_t ⊙ SiLU(W_z x_t))"""
    W_u, W_z = cell.inward.weight.chunk(2)
    A, h = -torch.exp(cell.log_decay).view(cell.inner, cell.states), torch.zeros(cell.inner, cell.states, dtype=x.dtype)
    for x_t, u_t in zip(x, convolved(x @ W_u.T, cell.convolution), strict=True):
        u = u_t * sigmoid(u_t)
        low, b, c = (cell.chosen.weight @ u).split([cell.rank, cell.states, cell.states])
        delta = torch.log(1 + torch.exp(cell.step_size.weight @ low + cell.step_size.bias))
        h = torch.exp(delta[:, None] * A) * h + torch.outer(delta * u, b)
        z = W_z @ x_t
        yield cell.outward.weight @ ((h @ c + cell.direct * u) * z * sigmoid(z))


def rwkv(x, cell):
    """m_t = (Σ_{i<t} e^{−(t−1−i) w + k_i} v_i + e^{u+k_t} v_t) / (Σ_{i<t} e^{−(t−1−i) w + k_i} + e^{u+k_t})"""
    before = torch.cat([torch.zeros_like(x[:1]), x[:-1]])
    r, k, v = (share * x @ each.weight.T + (1 - share) * before @ each.weight.T for share, each in
               zip(cell.shares, (cell.receptance, cell.key, cell.value), strict=True))
    w, u = torch.exp(cell.decay), cell.bonus
    for t in range(len(x)):
        weights = [torch.exp(-(t - 1 - i) * w + k[i]) for i in range(t)] + [torch.exp(u + k[t])]
        mean = sum(weight * v[i] for i, weight in enumerate(weights)) / sum(weights)
        yield cell.outward.weight @ (sigmoid(r[t]) * mean)


BY_THE_EQUATION = {"min_gru": min_gru, "min_lstm": min_lstm, "gated_linear_recurrence": gated_linear_recurrence,
                   "selective_state_space": selective, "rwkv": rwkv}
each = pytest.mark.parametrize("name", BY_THE_EQUATION)


def made(name, causal=True, **options):
    torch.manual_seed(0)
    mixer = build("parts/mixers", {"name": name, **options}, Place(D, 4, 1, causal=causal)).double()
    with torch.no_grad():
        for parameter in mixer.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return mixer


def rows(x, cell, name):
    return torch.stack([torch.stack(list(BY_THE_EQUATION[name](row, cell))) for row in x])


@each
def test_a_recurrence_is_its_equation(name):
    mixer, x = made(name), torch.randn(B, T, D, dtype=torch.float64)
    torch.testing.assert_close(mixer(x, None, Reading())[0], rows(x, mixer.cell, name))


@each
def test_gradients_are_those_of_the_steps(name):
    mixer, x = made(name), torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    wanted = [x, *mixer.parameters()]
    fast = mixer(x, None, Reading())[0]
    weigh = torch.randn_like(fast)
    state, steps = mixer.start(B, 1, x), []
    for t in range(T):
        y, state = mixer(x[:, t:t + 1], state, Reading())
        steps.append(y)
    slow = torch.cat(steps, dim=1)
    for one, other in zip(torch.autograd.grad((fast * weigh).sum(), wanted),
                          torch.autograd.grad((slow * weigh).sum(), wanted), strict=True):
        torch.testing.assert_close(one, other)


@each
def test_the_second_direction_starts_at_each_rows_last_token(name):
    mixer, x = made(name, causal=False), torch.randn(B, 7, D, dtype=torch.float64)
    lengths = torch.tensor([7, 1, 4])
    y = mixer(x, None, Reading(causal=False, lengths=lengths))[0]
    for b, length in enumerate(lengths):
        ahead = torch.stack(list(BY_THE_EQUATION[name](x[b, :length], mixer.cell)))
        back = torch.stack(list(BY_THE_EQUATION[name](x[b, :length].flip(0), mixer.reversed_cell))).flip(0)
        torch.testing.assert_close(y[b, :length], torch.cat([ahead, back], dim=-1))


@each
def test_watching_shows_gates_and_every_step(name):
    mixer, x = made(name), torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    with watch() as seen:
        y = mixer(x, None, Reading())[0]
    torch.testing.assert_close(y, mixer(x, None, Reading())[0])
    assert len(seen["steps"][0]) == T and "hidden" in seen
    assert all(step.any() for step in torch.autograd.grad(y[:, -1].sum(), seen["steps"][0][:-1]))


@pytest.mark.parametrize("name", ["min_gru", "min_lstm"])
def test_minimal_recurrences_are_the_sums_of_logarithms_of_the_paper(name):
    """Appendix B: ln h_t = ln Π a + logcumsumexp(ln b − ln Π a)."""
    mixer, x = made(name), torch.randn(B, T, D, dtype=torch.float64)
    a, b, _ = mixer.cell.terms(mixer.cell.inward(x))
    products = a.log().cumsum(1)
    expected = torch.exp(products + torch.logcumsumexp(b.log() - products, dim=1))
    torch.testing.assert_close(mixer(x, None, Reading())[0], expected)


def test_a_state_space_in_several_stretches_is_the_same_with_its_gradients(monkeypatch):
    mixer, x = made("selective_state_space"), torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    found = []
    for most in (1 << 22, B * 2 * D * 16 * 5):
        monkeypatch.setitem(selective_state_space.AT_ONCE, "cpu", most)
        y = mixer(x, None, Reading())[0]
        found.append([y, *torch.autograd.grad(y.square().sum(), [x, *mixer.parameters()])])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("size", [300.0, -300.0])
def test_means_of_rwkv_neither_overflow_nor_vanish(size):
    """e^300 is too much for float32, but the mean of equally heavy values is their mean."""
    k, v = torch.full((1, 40, 2), size, requires_grad=True), torch.randn(1, 40, 2)
    fresh = Means(torch.zeros(1, 4), torch.full((1, 2), -1e30), torch.zeros(1, 2))
    mean, sums, top = weighted_mean(k, v, torch.tensor([1e-9, 60.0]), torch.zeros(2), fresh)
    torch.testing.assert_close(mean[0, :, 0], v[0, :, 0].cumsum(0) / torch.arange(1, 41))
    torch.testing.assert_close(mean[0, 1:, 1], (v[0, 1:, 1] + v[0, :-1, 1]) / 2)  # what fades at once: the last two
    mean.sum().backward()
    assert k.grad.isfinite().all() and sums.isfinite().all() and top.isfinite().all()


def test_channels_of_rwkv_are_their_equation():
    mixer, x = made("rwkv_channels", expand=3), torch.randn(B, T, D, dtype=torch.float64)
    y, (W_r, W_k, W_v) = mixer(x, None, Reading())[0], (each.weight for each in (mixer.receptance, mixer.key,
                                                                               mixer.value))
    for row, found in zip(x, y, strict=True):
        for t in range(T):
            before = row[t - 1] if t else torch.zeros(D, dtype=x.dtype)
            of_r, of_k = (share * row[t] + (1 - share) * before for share in mixer.shares)
            hidden = (W_k @ of_k).clamp(min=0) ** 2
            torch.testing.assert_close(found[t], sigmoid(W_r @ of_r) * (W_v @ hidden))


def test_first_weights_are_as_the_parts_say():
    torch.manual_seed(0)
    lasting = sigmoid(build("parts/mixers", "gated_linear_recurrence", Place(256)).cell.decay) ** 8
    assert 0.9 <= lasting.min() < 0.905 and 0.995 < lasting.max() <= 0.999
    space = build("parts/mixers", {"name": "selective_state_space", "states": 3}, Place(32)).cell
    torch.testing.assert_close(space.log_decay.exp(), torch.tensor([1.0, 2.0, 3.0]).repeat(64))
    steps = F.softplus(space.step_size.bias)
    assert steps.min().item() == pytest.approx(1e-3, rel=1e-3) and steps.max().item() == pytest.approx(0.1, rel=1e-3)
    assert [each.unique().tolist() for each in build("parts/mixers", "min_gru", Place(32)).cell.inward.bias.chunk(2)
            ] == [[0], [-1]]
    biases = build("parts/mixers", {"name": "min_lstm", "forget": 2.0}, Place(32)).cell.inward.bias.chunk(3)
    assert [each.unique().tolist() for each in biases] == [[0], [2], [0]]
    fading = [build("parts/mixers", "rwkv", Place(5, 4, index)).cell for index in (0, 3)]
    torch.testing.assert_close(fading[0].decay, -5 + 8 * (torch.arange(5) / 4) ** 0.7)
    torch.testing.assert_close(fading[1].decay, -5 + 8 * (torch.arange(5) / 4) ** 2.0)
    torch.testing.assert_close(fading[0].shares[1], torch.arange(5) / 5)
    torch.testing.assert_close(fading[1].shares[2], (torch.arange(5) / 5) ** 0.25 + 0.3)


@pytest.mark.parametrize(("part", "message"), [
    ({"name": "selective_state_space", "states": 0}, "SelectiveStateSpace.states = 0, expected at least 1"),
    ({"name": "selective_state_space", "expand": 0}, "SelectiveStateSpace.expand = 0, expected at least 1"),
    ({"name": "selective_state_space", "kernel": 0}, "SelectiveStateSpace.kernel = 0, expected at least 1"),
    ({"name": "gated_linear_recurrence", "kernel": 0}, "GatedLinearRecurrence.kernel = 0, expected at least 1."),
    ({"name": "rwkv_channels", "expand": 0}, "RWKVChannels.expand = 0, expected at least 1"),
    ({"name": "rwkv", "directions": 2}, "RWKV.directions = 2, expected 1 where what follows must not be seen")])
def test_wrong_options_are_refused(part, message):
    with pytest.raises(OptionError, match=message):
        build("parts/mixers", part, Place(4))
