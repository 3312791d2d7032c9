"""Relative positions of every kind: a loop over queries and keys, any positions, and the grid of the lectures."""

import math

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, H, T = 2, 3, 9
WIDTHS = [5, 4]  # of heads: an odd one has a wave without a partner
WHERE = torch.arange(T)[None]
KINDS = ["relative_sinusoidal", "relative_learnable_sinusoidal", "transformer_xl", "shaw", "disentangled"]
every = pytest.mark.parametrize("name", KINDS)
ways = pytest.mark.parametrize("causal", [True, False])
widths = pytest.mark.parametrize("width", WIDTHS)


def made(name, causal=True, width=5, **options):
    torch.manual_seed(0)
    if name in ("shaw", "disentangled"):
        options.setdefault("furthest", 3)
    part = build("parts/attention", {"name": name, **options}, Place(H * width, heads=H, causal=causal)).double().eval()
    with torch.no_grad():
        for key, parameter in part.named_parameters():
            parameter.mul_(1.3) if key == "frequency" else parameter.add_(torch.randn_like(parameter))
    return part


def inputs(width=5, groups=H):
    torch.manual_seed(1)
    return [torch.randn(B, count, T, width, dtype=torch.float64) for count in (H, groups, groups)]


def wave(distance, frequency):
    """[sin ω₀d, cos ω₀d, sin ω₁d, …]"""
    found = [f(omega * distance) for omega in frequency for f in (math.sin, math.cos)]
    return torch.tensor(found, dtype=torch.float64)


def usual(width):
    return [10_000 ** (-2 * n / width) for n in range((width + 1) // 2)]


def clipped(part, table, distance):
    return table[max(part.distances.least, min(part.distances.furthest, distance)) - part.distances.least]


def pair(name, part, h, q, k, distance):
    """The score of one pair before it is divided by √E, and what is added to the value."""
    nothing = torch.zeros_like(k)
    if name == "transformer_xl":
        width = part.weight.shape[2]
        r = part.weight[h] @ wave(distance, usual(width))[:width]
        return (q + part.for_content[h, 0]) @ k + (q + part.for_distance[h, 0]) @ r, nothing
    if name == "shaw":
        return q @ (k + clipped(part, part.of_keys[0], distance)), clipped(part, part.of_values[0], distance)
    if name == "disentangled":
        a, b = clipped(part, part.for_queries[h], distance), clipped(part, part.for_keys[h], distance)
        return (q @ k + q @ a + k @ b) / 3**0.5, nothing
    frequency = part.frequency.tolist() if "learnable" in name else usual(len(q))
    return q @ k + q @ wave(distance, frequency)[:len(q)], nothing


def by_the_definition(name, part, q, k, v, q_pos, causal=True):
    y = torch.zeros_like(q)
    for b in range(B):
        for h in range(H):
            g = h * k.shape[1] // H
            for n, i in enumerate(q_pos[b].tolist()):
                seen = range(i + 1) if causal else range(T)
                pairs = [pair(name, part, h, q[b, h, n], k[b, g, j], i - j) for j in seen]
                weight = (torch.stack([score for score, _ in pairs]) / q.shape[-1]**0.5).softmax(0)
                y[b, h, n] = weight @ torch.stack([v[b, g, j] + more for j, (_, more) in zip(seen, pairs, strict=True)])
    return y


@every
@ways
@widths
@pytest.mark.parametrize("groups", [3, 1])
@torch.no_grad()
def test_a_whole_text_agrees_with_the_definition(name, causal, width, groups):
    part, (q, k, v) = made(name, causal, width), inputs(width, groups)
    found = part(q, k, v, WHERE, WHERE, Reading(causal, positions=WHERE))
    torch.testing.assert_close(found, by_the_definition(name, part, q, k, v, WHERE.expand(B, T), causal))


@every
@widths
@torch.no_grad()
def test_a_few_queries_of_rows_that_have_read_differently_much_agree_with_it_too(name, width):
    part, (q, k, v), q_pos = made(name, width=width), inputs(width), torch.tensor([[6, 7], [2, 3]])
    found = part(q[:, :, :2], k, v, q_pos, WHERE, Reading(positions=q_pos, even=False))
    torch.testing.assert_close(found, by_the_definition(name, part, q[:, :, :2], k, v, q_pos))


@every
@torch.no_grad()
def test_only_distances_count(name):
    """All positions moved by 100 change nothing; other distances do."""
    part, (q, k, v) = made(name), inputs()
    def read(where):
        return part(q, k, v, where, where, Reading(positions=where))
    plain = part(q, k, v, WHERE.clone(), WHERE, Reading(positions=WHERE))
    torch.testing.assert_close(read(WHERE), plain)
    moved = WHERE + 100
    torch.testing.assert_close(part(q, k, v, moved.clone(), moved, Reading(positions=moved)), plain)
    wide = WHERE * 3
    assert not torch.allclose(part(q, k, v, wide.clone(), wide, Reading(positions=wide)), plain)


@every
@ways
@torch.no_grad()
def test_whoever_watches_sees_weights_that_sum_to_one_and_the_same_outputs(name, causal):
    part, (q, k, v), reading = made(name, causal), inputs(), Reading(causal, positions=WHERE)
    with watch() as seen:
        y = part(q, k, v, WHERE, WHERE, reading)
    [weight] = seen["attention"]
    torch.testing.assert_close(weight.sum(-1), torch.ones(B, H, T, dtype=q.dtype))
    torch.testing.assert_close(y, part(q, k, v, WHERE, WHERE, reading))


@pytest.mark.parametrize(("name", "words"), [("shaw", "Shaw.furthest"), ("disentangled", "Disentangled.furthest")])
def test_a_distance_of_nothing_is_refused(name, words):
    with pytest.raises(OptionError, match=f"{words} = 0, expected at least 1"):
        made(name, furthest=0)


@pytest.mark.parametrize("absolute", ["none", "learned", "sinusoidal", "learnable_sinusoidal"])
@pytest.mark.parametrize("relative", ["full", "relative", "relative_sinusoidal", "relative_learnable_sinusoidal"])
@torch.no_grad()
def test_absolute_and_relative_positions_combine_and_each_is_known_to_the_model(absolute, relative):
    torch.manual_seed(0)
    shape = Shape(pattern="sf", width=12, context=8, position=absolute, parts={"s": {"name": relative, "heads": H}})
    stack = Stack(shape, 11).double().eval()
    model, ids = NeuralLanguageModel(stack, 1), torch.randint(2, 11, (B, 6))
    scores, state = model.score(ids), model.start(B)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], scores[:, t])
        state = model.advance(state, column)
    same, turned = ids[:, [0, 1, 2, 3, 4]], ids[:, [3, 1, 2, 0, 4]]  # 0 and 3 exchanged: a bag of words has not changed
    known = not torch.allclose(stack(same)[0][:, 4], stack(turned)[0][:, 4])
    assert known == ((absolute, relative) != ("none", "full"))
