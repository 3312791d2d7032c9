"""Attention with relative positions: a loop over queries and keys, the skew, clipping, both ways of reading."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.attention._distances import gathered
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, H, T, E = 2, 3, 11, 5
ways = pytest.mark.parametrize("causal", [True, False])
furthest = pytest.mark.parametrize("furthest", [1, 4, 50])


def made(furthest, causal):
    torch.manual_seed(0)
    part = build("parts/attention", {"name": "relative", "furthest": furthest}, Place(H * E, heads=H, causal=causal))
    torch.nn.init.normal_(part.weight)
    return part.double().eval()


def inputs(time=T):
    torch.manual_seed(1)
    return torch.randn(3, B, H, time, E, dtype=torch.float64).unbind(0)


def by_the_definition(part, q, k, v, q_pos, k_pos, causal):
    """One query and one key at a time; r of its own for every distance up to `furthest`."""
    y = torch.zeros_like(q)
    for b in range(B):
        for h in range(H):
            for i, at in enumerate(q_pos[b]):
                seen = [j for j, there in enumerate(k_pos[b]) if there <= at or not causal]
                scores = []
                for j in seen:
                    distance = max(part.distances.least, min(part.distances.furthest, int(at - k_pos[b][j])))
                    r = part.weight[h, distance + (0 if causal else part.distances.furthest)]
                    scores.append((q[b, h, i] @ k[b, h, j] + q[b, h, i] @ r) / E**0.5)
                y[b, h, i] = torch.stack(scores).softmax(0) @ v[b, h, seen]
    return y


@ways
@furthest
@torch.no_grad()
def test_a_whole_text_agrees_with_the_definition(furthest, causal):
    part, (q, k, v), where = made(furthest, causal), inputs(), torch.arange(T)[None]
    found = part(q, k, v, where, where, Reading(causal, positions=where))
    every = where.expand(B, T)
    torch.testing.assert_close(found, by_the_definition(part, q, k, v, every, every, causal))


@furthest
@torch.no_grad()
def test_queries_of_rows_that_have_read_differently_much_agree_with_it_too(furthest):
    part, (q, k, v) = made(furthest, True), inputs()
    q, q_pos, k_pos = q[:, :, :1], torch.tensor([[9], [4]]), torch.arange(T)[None]
    found = part(q, k, v, q_pos, k_pos, Reading(positions=q_pos, even=False))
    torch.testing.assert_close(found, by_the_definition(part, q, k, v, q_pos, k_pos.expand(B, T), True))


@ways
@furthest
@pytest.mark.parametrize("time", [1, 2, T])
def test_the_skew_gives_what_gathering_gives_with_its_gradients(furthest, causal, time):
    part, (q, _, _), where = made(furthest, causal), inputs(time), torch.arange(time)[None]
    seen = torch.ones(time, time, dtype=torch.bool).tril() if causal else torch.ones(time, time, dtype=torch.bool)
    weigh, found = torch.linspace(-1, 1, time * time, dtype=q.dtype).view(time, time), []
    distances = part.distances
    for scores in (distances.skewed(q, part.weight), gathered(q, part.weight, distances.numbers(where, where))):
        kept = scores.masked_fill(~seen, 0.0)
        found.append([kept, *torch.autograd.grad((kept * weigh).sum(), [part.weight])])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


@torch.no_grad()
def test_the_skew_makes_nothing_of_the_size_of_all_pairs_times_the_width():
    """The plain way has a vector of E numbers for each pair of query and key: T² · E."""
    part, sizes, time = made(8, True), [], 64

    class Sizes(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            made = function(*args, **(kwargs or {}))
            sizes.append(made.numel() if torch.is_tensor(made) else 0)
            return made

    q = torch.randn(1, H, time, E, dtype=torch.float64)
    with Sizes():
        part.distances.skewed(q, part.weight)
    assert max(sizes) <= H * time * (time + 1) < H * time * time * E


@torch.no_grad()
def test_without_distances_it_is_full_attention():
    part, (q, k, v), where = made(4, True), inputs(), torch.arange(T)[None]
    part.weight.zero_()
    full = build("parts/attention", "full", Place(H * E, heads=H)).eval()
    reading = Reading(positions=where)
    torch.testing.assert_close(part(q, k, v, where, where, reading), full(q, k, v, where, where, reading))


@torch.no_grad()
def test_whoever_watches_sees_weights_that_sum_to_one():
    part, (q, k, v), where = made(4, True), inputs(), torch.arange(T)[None]
    with watch() as seen:
        part(q, k, v, where, where, Reading(positions=where))
    [weight] = seen["attention"]
    assert weight.shape == (B, H, T, T)
    torch.testing.assert_close(weight.sum(-1), torch.ones(B, H, T, dtype=q.dtype))


def test_a_distance_of_nothing_is_refused():
    with pytest.raises(OptionError, match=r"Relative.furthest = 0, expected at least 1"):
        build("parts/attention", {"name": "relative", "furthest": 0}, Place(8, heads=2))
