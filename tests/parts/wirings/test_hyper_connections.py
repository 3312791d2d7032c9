"""Hyper-connections: stream by stream from the equation; at first they are pre-norm."""

import pytest
import torch
from torch import nn

from chainrule.errors import OptionError
from chainrule.models.cost.counting import counted
from chainrule.models.inside.gradients import measure
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

torch.set_num_threads(1)
B, T, D, N, V = 2, 5, 12, 3, 17


class Halved(nn.Module):
    def forward(self, x):
        return x / 2


def test_streams_are_read_mixed_and_written_as_the_equation_says():
    torch.manual_seed(0)
    wiring = build("parts/wirings", {"name": "hyper_connections", "streams": N}, Place(D, 4, 1), nn.Tanh, Halved)
    wiring = wiring.double()
    for parameter in wiring.parameters():
        nn.init.normal_(parameter)
    x = torch.randn(B, T, N, D, dtype=torch.float64)
    y, state = wiring(x, lambda inward: (inward.sin(), "state"))
    for b in range(B):
        for t in range(T):
            read = sum(wiring.read[i] * x[b, t, i] for i in range(N))
            for j in range(N):
                kept = sum(wiring.mix[i * N + j] * x[b, t, i] for i in range(N))
                torch.testing.assert_close(y[b, t, j], kept + wiring.write[j] * read.tanh().sin() / 2)
    assert state == "state"
    torch.testing.assert_close(wiring.close(x), x[:, :, 0] + x[:, :, 1] + x[:, :, 2])
    assert torch.equal(wiring.open(x[:, :, 0]), torch.stack(N * [x[:, :, 0]], dim=2))


def test_dynamic_connections_depend_on_the_streams_as_the_equation_says():
    torch.manual_seed(0)
    choice = {"name": "dynamic_hyper_connections", "streams": N}
    wiring = build("parts/wirings", choice, Place(D, 4, 1), nn.Tanh, Halved).double()
    assert not wiring.maps.any() and wiring.scales.tolist() == pytest.approx([0.01, 0.01])
    for parameter in wiring.parameters():
        nn.init.normal_(parameter)
    x = torch.randn(B, T, N, D, dtype=torch.float64)
    y, _ = wiring(x, lambda inward: (inward.sin(), "state"))
    s, more = wiring.scales
    for b in range(B):
        for t in range(T):
            n = x[b, t].tanh()
            read = sum((wiring.read[i] + s * (n[i] @ wiring.maps[0]).tanh()) * x[b, t, i] for i in range(N))
            for j in range(N):
                kept = sum((wiring.mix[i * N + j] + s * (n[i] @ wiring.maps[1 + j]).tanh()) * x[b, t, i]
                           for i in range(N))
                written = wiring.write[j] + more * (n[j] @ wiring.maps[-1]).tanh()
                torch.testing.assert_close(y[b, t, j], kept + written * read.tanh().sin() / 2)


@pytest.mark.parametrize("name", ["hyper_connections", "dynamic_hyper_connections"])
def test_at_first_all_streams_are_those_of_pre_norm(name):
    ids, found = torch.arange(10).view(2, 5), []
    for wiring in ("pre_norm", {"name": name, "streams": N}):
        torch.manual_seed(0)
        found.append(Stack(Shape(pattern="(sf)*2", width=D, wiring=wiring, norm={"name": "rms", "epsilon": 0.0}), V))
    assert [layer.wiring.read.tolist() for layer in found[1].sublayers] == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    torch.testing.assert_close(found[1](ids)[0], found[0](ids)[0], rtol=1e-4, atol=1e-5)


def test_in_mixed_precision_the_streams_keep_theirs():
    wiring = build("parts/wirings", {"name": "hyper_connections", "streams": N}, Place(D), nn.Identity, nn.Identity)
    x = torch.randn(B, T, N, D)
    with torch.autocast("cpu", torch.bfloat16):
        y, _ = wiring(x, lambda inward: (torch.zeros_like(inward, dtype=torch.bfloat16), None))
    assert torch.equal(y, x)


def test_its_numbers_are_counted_and_its_gradients_measured():
    shape = Shape(pattern="(sf)*2", width=D, wiring={"name": "hyper_connections", "streams": N})
    parts = {part.name: part for part in counted(shape, V)}
    assert parts["hyper_connections"].parameters == 4 * (N + N * N + N)
    found = measure(Stack(shape, V), torch.randint(1, V, (B, T)))
    assert len(found.by_layer) == 4 and all(norm > 0 for norm in found.by_layer)


def test_there_is_a_stream():
    with pytest.raises(OptionError, match="HyperConnections.streams = 0, expected at least 1"):
        build("parts/wirings", {"name": "hyper_connections", "streams": 0}, Place(D), nn.Identity, nn.Identity)
