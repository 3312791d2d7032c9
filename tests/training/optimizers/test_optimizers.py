"""Each optimizer against a loop written from its equation, over several steps and changing rates."""

import math

import pytest
import torch
from torch import nn

from chainrule.errors import OptionError
from chainrule.recipe.registry import build, names

RATES = (0.1, 0.05, 0.2, 0.1)


def parameters():
    torch.manual_seed(0)
    return [("sublayers.0.body.weight", nn.Parameter(torch.randn(3, 5, dtype=torch.float64))),
            ("sublayers.0.body.bias", nn.Parameter(torch.randn(3, dtype=torch.float64))),
            ("embedding.weight", nn.Parameter(torch.randn(7, 5, dtype=torch.float64)))]


def gradient(parameter, step):
    return torch.sin(parameter.detach() * (step + 2)) + 0.1


def trained(choice):
    named = parameters()
    optimizer = build("training/optimizers", choice, named)
    for step, rate in enumerate(RATES):
        for group in optimizer.param_groups:
            group["lr"] = rate
        for _, parameter in named:
            parameter.grad = gradient(parameter, step)
        optimizer.step()
    return [parameter.detach() for _, parameter in named]


def by_the_equation(update):
    """update(name, w, g, memory, step, rate) -> w"""
    found = []
    for name, parameter in parameters():
        w, memory = parameter.detach().clone(), {}
        for step, rate in enumerate(RATES):
            w = update(name, w, gradient(w, step), memory, step + 1, rate)
        found.append(w)
    return found


def sgd(name, w, g, memory, t, rate):
    return w - rate * (g + (0.1 * w if w.ndim == 2 else 0))


def momentum(name, w, g, memory, t, rate):
    memory["b"] = 0.9 * memory["b"] + g if "b" in memory else g
    return w - rate * memory["b"]


def nesterov(name, w, g, memory, t, rate):
    memory["b"] = 0.9 * memory["b"] + g if "b" in memory else g
    return w - rate * (g + 0.9 * memory["b"])


def adamw(name, w, g, memory, t, rate, decay=0.3, beta1=0.9, beta2=0.95):
    m = memory["m"] = beta1 * memory.get("m", 0) + (1 - beta1) * g
    v = memory["v"] = beta2 * memory.get("v", 0) + (1 - beta2) * g**2
    m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
    return w - rate * (m_hat / (v_hat.sqrt() + 1e-8) + (decay * w if w.ndim == 2 else 0))


def adam(name, w, g, memory, t, rate):
    return adamw(name, w, g, memory, t, rate, decay=0.0, beta2=0.999)


def muon(name, w, g, memory, t, rate):
    if w.ndim != 2 or "embedding" in name:
        return adamw(name, w, g, memory, t, rate)
    b = memory["b"] = 0.95 * memory.get("b", 0) + 0.05 * g
    x = (0.05 * g + 0.95 * b).bfloat16()
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(5):  # Newton-Schulz: the singular values go to about 1
        square = x @ x.T
        x = 3.4445 * x + (-4.775 * square + 2.0315 * square @ square) @ x
    return w - rate * (0.3 * w + 0.2 * math.sqrt(max(w.shape)) * x.to(w.dtype))


CASES = [({"name": "sgd", "weight_decay": 0.1}, sgd), ({"name": "ntasgd", "weight_decay": 0.1}, sgd),
         ("momentum", momentum),
         ({"name": "momentum", "nesterov": True}, nesterov), ("adam", adam),
         ({"name": "adamw", "weight_decay": 0.3}, adamw), ({"name": "muon", "weight_decay": 0.3}, muon)]


@pytest.mark.parametrize(("choice", "equation"), CASES, ids=[str(choice) for choice, _ in CASES])
def test_agrees_with_its_equation(choice, equation):
    near = {"rtol": 2e-2, "atol": 2e-2} if equation is muon else {"rtol": 1e-7, "atol": 1e-9}  # bfloat16 inside
    for found, expected in zip(trained(choice), by_the_equation(equation), strict=True):
        torch.testing.assert_close(found, expected, **near)


def test_every_optimizer_is_compared():
    tried = {choice if isinstance(choice, str) else choice["name"] for choice, _ in CASES}
    assert tried == set(names("training/optimizers"))


@pytest.mark.parametrize("name", names("training/optimizers"))
def test_a_rate_of_zero_is_refused(name):
    with pytest.raises(OptionError, match=f"{name}.rate = 0.0, expected more than 0."):
        build("training/optimizers", {"name": name, "rate": 0.0}, parameters())
