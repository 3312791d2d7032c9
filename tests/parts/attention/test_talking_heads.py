"""Talking heads: a loop over heads, queries and keys; with identities between heads it is full attention."""

import pytest
import torch

from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, H, T, E = 2, 3, 7, 5
WHERE = torch.arange(T)[None]


def made(causal=True):
    torch.manual_seed(0)
    part = build("parts/attention", {"name": "talking_heads", "deviation": 0.7}, Place(H * E, heads=H, causal=causal))
    return part.double().eval()


def inputs():
    torch.manual_seed(1)
    return torch.randn(3, B, H, T, E, dtype=torch.float64).unbind(0)


@pytest.mark.parametrize("causal", [True, False])
@torch.no_grad()
def test_it_is_a_loop_over_heads_and_queries(causal):
    part, (q, k, v) = made(causal), inputs()
    found = part(q, k, v, WHERE, WHERE, Reading(causal, positions=WHERE))
    for b in range(B):
        for i in range(T):
            seen = range(i + 1) if causal else range(T)
            score = torch.stack([torch.stack([q[b, h, i] @ k[b, h, j] / E**0.5 for j in seen]) for h in range(H)])
            weight = [sum(part.of_scores[g, h] * score[h] for h in range(H)).softmax(0) for g in range(H)]
            for g in range(H):
                mixed = sum(part.of_weights[g, h] * weight[h] for h in range(H))
                torch.testing.assert_close(found[b, g, i], mixed @ v[b, g, list(seen)])


@torch.no_grad()
def test_heads_that_say_nothing_to_each_other_are_full_attention():
    part, (q, k, v), reading = made(), inputs(), Reading(positions=WHERE)
    part.of_scores.copy_(torch.eye(H))
    part.of_weights.copy_(torch.eye(H))
    full = build("parts/attention", "full", Place(H * E, heads=H)).eval()
    torch.testing.assert_close(part(q, k, v, WHERE, WHERE, reading), full(q, k, v, WHERE, WHERE, reading))


@torch.no_grad()
def test_watching_shows_the_weights_before_they_are_mixed():
    part, (q, k, v) = made(), inputs()
    with watch() as seen:
        part(q, k, v, WHERE, WHERE, Reading(positions=WHERE))
    [weight_BHQK] = seen["attention"]
    torch.testing.assert_close(weight_BHQK.sum(-1), torch.ones(B, H, T, dtype=q.dtype))


def test_dropout_is_for_training_only():
    part = build("parts/attention", "talking_heads", Place(H * E, heads=H, dropout=0.5)).double()
    (q, k, v), reading = inputs(), Reading(positions=WHERE)
    assert not torch.allclose(*(part(q, k, v, WHERE, WHERE, reading) for _ in range(2)))
    part.eval()
    torch.testing.assert_close(*(part(q, k, v, WHERE, WHERE, reading) for _ in range(2)))
