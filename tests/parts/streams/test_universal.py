"""The Universal Transformer's two parts against their equations, and in a stack."""

import math

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.losses import collected_losses
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

B, T, D, V = 2, 5, 6, 11
SHAPE = Shape("[tsfh]*4", 16, 12, parts={"t": "step_signal", "h": "halting", "f": "mlp"}, wiring="post_norm",
              norm="layer", position="none")


def by_the_definition(states, weight, bias, epsilon):
    """One position at a time, straight from Graves' equations: the mean of its states, and N + R."""
    left, mean = 1.0, torch.zeros_like(states[0])
    for n, h in enumerate(states):
        p = 1 / (1 + math.exp(-(float(weight @ h) + bias)))
        if 1 - left + p >= 1 - epsilon or n == len(states) - 1:
            return mean + left * h, n + 1 + left
        mean, left = mean + p * h, left - p
    raise AssertionError


@pytest.mark.parametrize("bias", [-2.0, -0.5, 1.0])
def test_halting_agrees_with_the_definition(bias):
    torch.manual_seed(0)
    part = build("parts/streams", {"name": "halting", "bias": bias}, Place(D, times=4)).double()
    states, reading = torch.randn(4, B, T, D, dtype=torch.float64), Reading().from_start(T, torch.device("cpu"))
    x, given = states[0], []
    with collected_losses() as losses:
        for n in range(4):
            y, _, reading = part(x, None, reading)
            given.append(x)
            x = torch.where((y == x).all(-1, keepdim=True), states[(n + 1) % 4], y)  # those that halted stay
    costs = []
    for b in range(B):
        for t in range(T):
            mean, cost = by_the_definition(states[:, b, t], part.unit.weight[0].detach(), bias, 0.01)
            torch.testing.assert_close(y[b, t].detach(), mean)
            costs.append(cost)
    torch.testing.assert_close(losses["ponder"].item(), 0.01 * sum(costs) / len(costs))


def test_positions_halt_at_different_steps_and_keep_their_result():
    torch.manual_seed(1)
    part = build("parts/streams", {"name": "halting", "bias": 0.0}, Place(D, times=5)).double()
    with torch.no_grad():
        part.unit.weight.mul_(4)
    reading, x = Reading().from_start(T, torch.device("cpu")), torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        for _ in range(5):
            before = x
            x, _, reading = part(x, None, reading)
            running = (x == before).all(-1)
            x = torch.where(running[..., None], x.roll(1, -1), x) if reading.carried else x
    steps = torch.stack([weight > 0 for weight in seen["weight"]]).sum(0)
    assert len(steps.unique()) > 1
    torch.testing.assert_close(sum(seen["weight"]), torch.ones(B, T, dtype=torch.float64))
    assert not reading.carried  # the next block begins anew


def test_the_ponder_loss_leaves_padding_out():
    part = build("parts/streams", "halting", Place(D, times=1))
    x = torch.randn(B, T, D)
    with collected_losses() as losses:
        part(x, None, Reading(lengths=torch.tensor([3, 5])).from_start(T, x.device))
    assert losses["ponder"].item() == pytest.approx(0.01 * 2)  # one step, and all of the weight is the rest
    with collected_losses() as losses:
        part.eval()(x, None, Reading().from_start(T, x.device))
    assert not losses


def test_the_signal_of_a_step_agrees_with_the_definition():
    part = build("parts/streams", "step_signal", Place(D, times=3))
    reading, x = Reading().from_start(T, torch.device("cpu")), torch.zeros(B, T, D)
    for step in (1, 2, 3, 1):  # and the next pass over the block begins at 1 again
        y, _, reading = part(x, None, reading)
        for i in range(T):
            for j in range(D):
                wave, length = (math.sin, math.cos)[j % 2], 10_000 ** (j // 2 * 2 / D)
                assert y[1, i, j].item() == pytest.approx(wave(i / length) + wave(step / length), abs=1e-6)


def test_a_universal_transformer_is_its_equations():
    """arXiv:1807.03819, eq. 4–5, with halting behind each step."""
    torch.manual_seed(0)
    stack = Stack(SHAPE, V).double().eval()
    ids = torch.randint(V, (B, T))
    signal, attention, feedforward, halting = stack.sublayers[:4]
    x, reading = stack.embedding(ids), Reading(position=stack.position).from_start(T, ids.device)
    for _ in range(4):
        x, _, reading = signal.body(x, None, reading)
        a = attention.wiring.norm(x + attention.body(x, None, reading)[0])
        x, _, reading = halting.body(feedforward.wiring.norm(a + feedforward.body(a, None, reading)[0]), None, reading)
    torch.testing.assert_close(stack(ids)[0], x)
    assert len({id(layer) for layer in stack.sublayers}) == 4


@torch.inference_mode()
def test_token_by_token_gives_what_the_whole_text_gives_also_where_positions_halt_early():
    torch.manual_seed(0)
    stack = Stack(SHAPE, V).double().eval()
    stack.sublayers[3].body.unit.weight.mul_(5)
    model, ids = NeuralLanguageModel(stack, 0), torch.randint(1, V, (B, 17))
    with watch() as seen:
        stack(ids[:, :12])
    assert len((torch.cat(seen["sublayers.15/ponder"]).floor()).unique()) > 1
    whole, state = model.score(ids), model.start(B)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], whole[:, t])
        state = model.advance(state, column)
    assert model.to_write() is model  # the engine has no such parts


@pytest.mark.parametrize(("option", "value"), [("ponder", -1.0), ("epsilon", 0.0), ("epsilon", 1.0)])
def test_values_out_of_range_are_refused(option, value):
    with pytest.raises(OptionError, match=f"Halting.{option} = {value}, expected"):
        build("parts/streams", {"name": "halting", option: value}, Place(D))


def test_stream_parts_need_a_single_stream():
    with pytest.raises(OptionError, match="model.wiring = 'hyper_connections', expected one with a single stream"):
        Stack(Shape("[tsf]*2", 16, 12, parts={"t": "step_signal"}, wiring="hyper_connections"), V)
