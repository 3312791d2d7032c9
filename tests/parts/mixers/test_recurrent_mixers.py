"""Recurrent mixers equal loops written from their equations, in both directions, with and without torch's kernels."""

import math

import pytest
import torch
from torch.autograd import gradcheck

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, D = 3, 7, 10
sigmoid, tanh = torch.sigmoid, torch.tanh


def numbers(cell):
    return {name.split(".")[-1].removesuffix("_l0"): value for name, value in cell.named_parameters()}


def elman(x, cell):
    """h_t = tanh(W x_t + U h_{t−1} + b)"""
    p, h = numbers(cell), torch.zeros(cell.hidden, dtype=x.dtype)
    for x_t in x:
        h = tanh(p["weight_ih"] @ x_t + p["weight_hh"] @ h + p["bias_ih"] + p["bias_hh"])
        yield h


def gru(x, cell):
    """r, z = σ(W x_t + U h_{t−1} + b), n = tanh(W x_t + b + r ⊙ (U h_{t−1} + b′)), h_t = (1 − z) ⊙ n + z ⊙ h_{t−1}"""
    p, h = numbers(cell), torch.zeros(cell.hidden, dtype=x.dtype)
    W, U, b, b_ = (p[name].chunk(3) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    for x_t in x:
        r, z = (sigmoid(W[n] @ x_t + b[n] + U[n] @ h + b_[n]) for n in (0, 1))
        n = tanh(W[2] @ x_t + b[2] + r * (U[2] @ h + b_[2]))
        h = (1 - z) * n + z * h
        yield h


def ugrnn(x, cell):
    """c = tanh(W x_t + U h_{t−1} + b), g = σ(W′ x_t + U′ h_{t−1} + b′), h_t = g ⊙ h_{t−1} + (1 − g) ⊙ c"""
    (W, W_), (U, U_), (b, b_) = (each.chunk(2) for each in (cell.inward, cell.recurrent, cell.bias))
    h = torch.zeros(cell.hidden, dtype=x.dtype)
    for x_t in x:
        c, g = tanh(W @ x_t + U @ h + b), sigmoid(W_ @ x_t + U_ @ h + b_)
        h = g * h + (1 - g) * c
        yield h


def lstm(x, cell):
    """i, f, o = σ(…), g = tanh(W x_t + U h_{t−1} + b), c_t = f ⊙ c_{t−1} + i ⊙ g, h_t = o ⊙ tanh(c_t)"""
    p = numbers(cell)
    W, U, b, b_ = (p[name].chunk(4) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h = c = torch.zeros(cell.hidden, dtype=x.dtype)
    for x_t in x:
        i, f, g, o = (W[n] @ x_t + U[n] @ h + b[n] + b_[n] for n in range(4))
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        h = sigmoid(o) * tanh(c)
        yield h


def lstm_linear_output(x, cell):
    """As the long short-term memory, but h_t = o ⊙ c_t"""
    W, U, b = (each.chunk(4) for each in (cell.inward, cell.recurrent, cell.bias))
    h = c = torch.zeros(cell.hidden, dtype=x.dtype)
    for x_t in x:
        i, f, o, g = (W[n] @ x_t + U[n] @ h + b[n] for n in range(4))
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        h = sigmoid(o) * c
        yield h


BY_THE_EQUATION = {each.__name__: each for each in (elman, gru, ugrnn, lstm, lstm_linear_output)}
each = pytest.mark.parametrize("name", BY_THE_EQUATION)


def made(name, causal=True, **options):
    torch.manual_seed(0)
    mixer = build("parts/mixers", {"name": name, **options}, Place(D, causal=causal)).double()
    with torch.no_grad():
        for parameter in mixer.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return mixer


def rows(x, cell, name):
    return torch.stack([torch.stack(list(BY_THE_EQUATION[name](row, cell))) for row in x])


@each
def test_a_recurrence_is_its_equation(name):
    mixer, x = made(name), torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    fast, by_hand = mixer(x, None, Reading())[0], rows(x, mixer.cell, name)
    torch.testing.assert_close(fast, by_hand)
    wanted = [x, *mixer.parameters()]
    weigh = torch.randn_like(fast)
    gradients = zip(torch.autograd.grad((fast * weigh).sum(), wanted),
                    torch.autograd.grad((by_hand * weigh).sum(), wanted), strict=True)
    for one, other in gradients:
        torch.testing.assert_close(one, other)


@each
def test_a_watched_recurrence_is_its_equation_too(name):
    mixer, x = made(name), torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        y = mixer(x, None, Reading())[0]
    torch.testing.assert_close(y, rows(x, mixer.cell, name))
    assert torch.equal(seen["hidden"][0], y)
    assert torch.equal(torch.stack(seen["steps"][0], dim=1), y)
    for gate in set(seen) - {"steps"}:
        assert seen[gate][0].shape == (B, T, D)


@each
def test_the_second_direction_starts_at_each_rows_last_token(name):
    mixer, x = made(name, causal=False), torch.randn(B, T, D, dtype=torch.float64)
    lengths = torch.tensor([7, 1, 4])
    y = mixer(x, None, Reading(causal=False, lengths=lengths))[0]
    for b, length in enumerate(lengths):
        ahead = torch.stack(list(BY_THE_EQUATION[name](x[b, :length], mixer.cell)))
        back = torch.stack(list(BY_THE_EQUATION[name](x[b, :length].flip(0), mixer.reversed_cell))).flip(0)
        torch.testing.assert_close(y[b, :length], torch.cat([ahead, back], dim=-1))


@each
def test_gates_of_both_directions_stand_where_their_tokens_are(name):
    mixer, x = made(name, causal=False), torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        y = mixer(x, None, Reading(causal=False, lengths=torch.tensor([7, 1, 4])))[0]
    assert torch.equal(seen["hidden"][0], y) and all(seen[gate][0].shape == y.shape for gate in set(seen) - {"steps"})


@pytest.mark.parametrize("name", ["ugrnn", "lstm_linear_output"])
@pytest.mark.parametrize("directions", [1, 2])
def test_gradients_of_our_own_loops_match_finite_differences(name, directions):
    torch.manual_seed(0)
    mixer = build("parts/mixers", name, Place(4, causal=directions == 1)).double()
    given = [torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True), *mixer.parameters()]
    reading = Reading(causal=directions == 1, lengths=None if directions == 1 else torch.tensor([3, 2]))
    names = [key for key, _ in mixer.named_parameters()]
    assert gradcheck(lambda x, *weights: torch.func.functional_call(
        mixer, dict(zip(names, weights, strict=True)), (x, None, reading))[0], given)


@pytest.mark.parametrize("name", ["elman", "gru", "lstm"])
def test_gradients_of_watched_loops_match_finite_differences(name):
    torch.manual_seed(0)
    mixer = build("parts/mixers", name, Place(3)).double()
    x = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
    with watch():
        assert gradcheck(lambda x: mixer(x, None, Reading())[0], x)


@each
def test_gradients_through_time_can_be_asked_of_each_step(name):
    mixer, x = made(name), torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        y = mixer(x, None, Reading())[0]
    gradients = torch.autograd.grad(y[:, -1].sum(), seen["steps"][0])
    assert all(gradient.any() for gradient in gradients)


def test_gradients_of_a_simple_recurrence_vanish_stay_or_explode_with_its_first_weights():
    """∂h_T/∂h_0 where tanh is nearly linear: U is what counts."""
    def kept(**options):
        torch.manual_seed(0)
        mixer = build("parts/mixers", {"name": "elman", **options}, Place(64))
        x = torch.zeros(1, 50, 64)
        with watch() as seen:
            y = mixer(x, None, Reading())[0]
        return torch.autograd.grad(y[:, -1] @ torch.ones(64), seen["steps"][0][0])[0].norm().item() / 8
    assert kept() == pytest.approx(1, rel=1e-3)
    assert kept(recurrent="uniform") < 1e-6
    assert kept(gain=2.0) > 1e12
    assert kept(recurrent="identity", gain=0.5) == pytest.approx(0.5**49, rel=1e-3)


def test_the_first_weights_are_as_the_parts_say():
    torch.manual_seed(0)
    cell = numbers(build("parts/mixers", "elman", Place(32)).cell)
    torch.testing.assert_close(cell["weight_hh"] @ cell["weight_hh"].T, torch.eye(32), atol=1e-5, rtol=0)
    assert 0.9 / math.sqrt(32) < cell["weight_ih"].abs().max() <= 1 / math.sqrt(32)
    for name in ("gru", "lstm"):
        cell = numbers(build("parts/mixers", {"name": name, "spread": 0.05}, Place(32)).cell)
        assert 0.049 < max(cell[each].abs().max() for each in ("weight_ih", "weight_hh")) <= 0.05
    biases = numbers(build("parts/mixers", {"name": "lstm", "forget": 2.0}, Place(32)).cell)
    assert [each.unique().tolist() for each in (biases["bias_ih"] + biases["bias_hh"]).chunk(4)] == [[0], [2], [0], [0]]
    plain = build("parts/mixers", {"name": "lstm_linear_output", "forget": 2.0}, Place(32)).cell.bias
    assert [each.unique().tolist() for each in plain.chunk(4)] == [[0], [2], [0], [0]]
    gated = build("parts/mixers", "ugrnn", Place(32)).cell.bias
    assert [each.unique().tolist() for each in gated.chunk(2)] == [[0], [1]]


def test_relu_is_available():
    mixer, x = made("elman", activation="relu"), torch.randn(B, T, D, dtype=torch.float64)
    y = mixer(x, None, Reading())[0]
    assert y.min() == 0
    with watch():
        torch.testing.assert_close(mixer(x, None, Reading())[0], y)


def test_directions_must_fit_the_reading_and_the_width():
    with pytest.raises(OptionError, match="LSTM.directions = 1, expected 2 to read both ways"):
        build("parts/mixers", {"name": "lstm", "directions": 1}, Place(4, causal=False))
    with pytest.raises(OptionError, match="LSTM.directions = 2, expected 1 where what follows must not be seen"):
        build("parts/mixers", {"name": "lstm", "directions": 2}, Place(4))
    with pytest.raises(OptionError, match="GRU.directions = 2, expected a divisor of width 5"):
        build("parts/mixers", "gru", Place(5, causal=False))
    with pytest.raises(OptionError, match="Elman.gain = -1.0, expected more than 0"):
        build("parts/mixers", {"name": "elman", "gain": -1.0}, Place(4))


@each
def test_directions_follow_from_the_way_of_reading(name):
    for causal, directions in ((True, 1), (False, 2)):
        said = build("parts/mixers", {"name": name, "directions": directions}, Place(4, causal=causal))
        unsaid = build("parts/mixers", name, Place(4, causal=causal))
        for mixer in (said, unsaid):
            assert mixer.cell.hidden == 4 // directions and (mixer.reversed_cell is None) == causal


def test_weight_drop_sets_numbers_of_the_recurrent_matrix_to_zero_for_a_whole_batch():
    mixer, x = made("lstm", weight_drop=0.4), torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    cell, whole = mixer.cell, mixer.cell.fused.weight_hh_l0
    torch.manual_seed(3)
    dropped = cell.recurrent()
    kept = dropped != 0
    assert 0.3 < (~kept).float().mean() < 0.5
    torch.testing.assert_close(dropped, torch.where(kept, whole / 0.6, 0.0))
    torch.manual_seed(3)
    y = mixer(x, None, Reading())[0]
    torch.manual_seed(3)
    with watch():
        torch.testing.assert_close(mixer(x, None, Reading())[0], y)
    plain = made("lstm")
    with torch.no_grad():
        plain.cell.fused.weight_hh_l0.copy_(dropped)
    torch.testing.assert_close(y, rows(x, plain.cell, "lstm"))
    weigh = torch.randn_like(y)
    found = torch.autograd.grad((y * weigh).sum(), [x, *mixer.parameters()])
    expected = torch.autograd.grad((plain(x, None, Reading())[0] * weigh).sum(), [x, *plain.parameters()])
    names = ["x", *(name for name, _ in mixer.named_parameters())]
    for name, one, other in zip(names, found, expected, strict=True):
        torch.testing.assert_close(one, other * kept / 0.6 if name.endswith("weight_hh_l0") else other)
    assert torch.equal(cell.eval().recurrent(), whole), "only in training"


def test_an_lstm_may_be_wider_than_what_it_reads():
    mixer, x = made("lstm", hidden=14), torch.randn(B, T, D, dtype=torch.float64)
    y, state = mixer(x, mixer.start(B, 1, x), Reading())
    torch.testing.assert_close(y, rows(x, mixer.cell, "lstm"))
    assert y.shape[-1] == state.h.shape[-1] == mixer.output_width == 14
    both = made("lstm", causal=False, hidden=14)
    assert both(x, None, Reading(causal=False))[0].shape[-1] == 14 and both.cell.hidden == 7


@pytest.mark.parametrize(("options", "words"), [
    ({"weight_drop": 1.0}, "LSTM.weight_drop = 1.0, expected at least 0 and less than 1"),
    ({"hidden": 0}, "LSTM.hidden = 0, expected at least 1, or null for the width before it")])
def test_impossible_options_of_an_lstm_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        made("lstm", **options)
