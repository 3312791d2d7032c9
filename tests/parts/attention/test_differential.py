"""Differential attention: two maps and their difference, one query at a time; the share by depth; rotary positions."""

import math

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, H, T, E = 2, 3, 7, 8
WHERE = torch.arange(T)[None]


def made(causal=True, index=0, **place):
    torch.manual_seed(0)
    part = build("parts/attention", "differential", Place(H * E, heads=H, causal=causal, index=index, **place))
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return part.double().eval()


def inputs(groups=H):
    torch.manual_seed(1)
    return [torch.randn(B, count, T, E, dtype=torch.float64) for count in (H, groups, groups)]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("groups", [3, 1])
@torch.no_grad()
def test_it_is_its_equation(causal, groups):
    part, (q, k, v), first = made(causal, index=4), inputs(groups), 0.8 - 0.6 * math.exp(-0.3 * 2)
    found = part(q, k, v, WHERE, WHERE, Reading(causal, positions=WHERE))
    (a1, b1), (a2, b2) = part.factors
    share = math.exp(a1 @ b1) - math.exp(a2 @ b2) + first
    for b in range(B):
        for h in range(H):
            g = h * groups // H
            for i in range(T):
                seen = list(range(i + 1) if causal else range(T))
                one, other = (torch.stack([q[b, h, i, half] @ k[b, g, j, half] / (E / 2)**0.5 for j in seen]).softmax(0)
                              for half in (slice(0, E, 2), slice(1, E, 2)))
                y = (one - share * other) @ v[b, g, seen]
                y = part.gain * y / (y.square().mean() + 1e-5).sqrt() * (1 - first)
                torch.testing.assert_close(found[b, h, i], y)


@pytest.mark.parametrize(("index", "first"), [(0, 0.2), (1, 0.2), (2, 0.8 - 0.6 * math.exp(-0.3)), (200, 0.8)])
def test_the_share_starts_larger_in_deep_layers(index, first):
    """§2.1: λ_init = 0.8 − 0.6 exp(−0.3 (l − 1)) for layers l = 1, 2, …; a layer has two sublayers."""
    torch.manual_seed(0)
    part = build("parts/attention", "differential", Place(H * E, heads=H, index=index))
    assert part.first == pytest.approx(first)
    assert part.share().item() == pytest.approx(first, abs=0.2)


@torch.no_grad()
def test_halves_keep_the_pairs_that_rotary_positions_turn():
    """Scores depend on distances alone: all positions moved by 50 change nothing."""
    torch.manual_seed(0)
    place = Place(H * E, heads=H)
    mixer = build("parts/mixers", {"name": "attention", "heads": H, "attend": "differential"}, place).double().eval()
    rotary, x = build("parts/positions", "rotary", place), torch.randn(B, T, H * E, dtype=torch.float64)
    near, far = (mixer(x, None, Reading(position=rotary, positions=WHERE + start))[0] for start in (0, 50))
    torch.testing.assert_close(near, far, atol=1e-5, rtol=0)
    spread = mixer(x, None, Reading(position=rotary, positions=WHERE * 3))[0]
    assert not torch.allclose(near, spread, atol=1e-3)


@torch.no_grad()
def test_watching_shows_the_difference_of_the_maps():
    part, (q, k, v) = made(), inputs()
    with watch() as seen:
        part(q, k, v, WHERE, WHERE, Reading(positions=WHERE))
    [weight] = seen["attention"]
    torch.testing.assert_close(weight.sum(-1), (1 - part.share()).expand(B, H, T))
    assert not weight.triu(1).any()


def test_dropout_is_for_training_only():
    part, (q, k, v), reading = made(dropout=0.5), inputs(), Reading(positions=WHERE)
    torch.testing.assert_close(*(part(q, k, v, WHERE, WHERE, reading) for _ in range(2)))
    part.train()
    assert not torch.allclose(*(part(q, k, v, WHERE, WHERE, reading) for _ in range(2)))


def test_heads_that_cannot_be_halved_are_refused():
    with pytest.raises(OptionError, match="Differential.head_width = 6, expected a multiple of 4. It is model.width"):
        build("parts/attention", "differential", Place(12, heads=2))
