"""Positions equal their equations and the published numbers."""

import math

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.shape import Shape
from chainrule.parts.place import Place
from chainrule.parts.positions.alibi import slopes
from chainrule.parts.positions.relative_bias import bucket
from chainrule.recipe.registry import build

torch.set_num_threads(1)
B, T, D, H, E = 2, 7, 10, 3, 6


def made(name, **options):
    torch.manual_seed(0)
    return build("parts/positions", {"name": name, **options}, Place(D, heads=H, context=13))


def wave(t, n, width=D, base=10_000):
    angle = t / base ** ((n - n % 2) / width)
    return math.cos(angle) if n % 2 else math.sin(angle)


def test_sinusoids_are_added():
    x, positions = torch.randn(B, T, D), torch.arange(3, 3 + T)[None]
    wanted = torch.tensor([[wave(t, n) for n in range(D)] for t in positions[0].tolist()])
    torch.testing.assert_close(made("sinusoidal").embed(x, positions) - x, wanted.expand(B, T, D), atol=1e-5, rtol=0)
    torch.testing.assert_close(made("sinusoidal", scale=0.5).embed(x, positions) - x, wanted.expand(B, T, D) / 2,
                               atol=1e-5, rtol=0)


def test_sinusoids_of_an_odd_width_end_with_a_sine():
    y = build("parts/positions", "sinusoidal", Place(5, context=10)).embed(torch.zeros(1, 4, 5), torch.arange(4)[None])
    torch.testing.assert_close(y[0, 3], torch.tensor([wave(3, n, 5) for n in range(5)]))


def test_sinusoids_are_put_beside_and_mapped_back():
    place, x, positions = made("sinusoidal_concatenated"), torch.randn(B, T, D), torch.arange(T)[None]
    waves = torch.tensor([[wave(t, n) for n in range(D)] for t in range(T)])
    wanted = [[place.weight @ torch.cat([x[b, t], waves[t]]) for t in range(T)] for b in range(B)]
    torch.testing.assert_close(place.embed(x, positions), torch.stack([torch.stack(row) for row in wanted]))


def test_places_beside_words_start_as_small_as_embeddings():
    torch.manual_seed(0)
    place = build("parts/positions", "sinusoidal_concatenated", Place(128, context=500))
    assert place.embed(torch.zeros(1, 500, 128), torch.arange(500)[None]).std().item() == pytest.approx(0.02, rel=0.15)
    x = torch.randn(1, 3, 128)
    torch.testing.assert_close(place.embed(x, torch.arange(3)[None]), x, atol=0.2, rtol=0)


def test_learnable_sinusoids_start_as_sinusoids_and_learn_their_lengths():
    place, x, positions = made("learnable_sinusoidal", scale=0.5), torch.randn(B, T, D), torch.arange(T)[None]
    torch.testing.assert_close(place.embed(x, positions), made("sinusoidal", scale=0.5).embed(x, positions))
    with torch.no_grad():
        place.frequency.mul_(1.7)
    wanted = torch.tensor([[wave(t * 1.7, n) / 2 for n in range(D)] for t in range(T)])
    torch.testing.assert_close(place.embed(x, positions) - x, wanted.expand(B, T, D), atol=1e-5, rtol=0)
    place.embed(x, positions).square().sum().backward()
    assert place.frequency.grad.ne(0).all() and [name for name, _ in place.named_parameters()] == ["frequency"]


def test_learned_positions_are_looked_up():
    place, x = made("learned"), torch.randn(B, T, D)
    torch.testing.assert_close(place.embed(x, torch.arange(4, 4 + T)[None]), x + place.weight[4:4 + T])
    assert place.context == 13


def test_rotary_turns_each_pair_by_its_angle():
    x, t = torch.randn(1, 1, 1, E, dtype=torch.float64), 5
    y = made("rotary").turn(x, torch.tensor([[t]]))[0, 0, 0]
    for n in range(E // 2):
        one, other, angle = x[0, 0, 0, n], x[0, 0, 0, n + E // 2], t * 10_000 ** (-2 * n / E)
        assert y[n].item() == pytest.approx((one * math.cos(angle) - other * math.sin(angle)).item(), abs=1e-6)
        assert y[n + E // 2].item() == pytest.approx((one * math.sin(angle) + other * math.cos(angle)).item(), abs=1e-6)


def test_rotary_scores_depend_on_the_distance_alone():
    place, (q, k) = made("rotary"), torch.randn(2, 1, 1, 1, 7, dtype=torch.float64)  # an odd head: one number stays
    def score(m, n):
        return (place.turn(q, torch.tensor([[m]])) * place.turn(k, torch.tensor([[n]]))).sum().item()
    assert score(12, 9) == pytest.approx(score(103, 100), abs=1e-5)
    assert score(12, 9) != pytest.approx(score(12, 8), abs=1e-3)


def test_rotary_angles_are_exact_in_half_precision():
    """bfloat16 cannot count beyond 256; its angles are those of float32."""
    place = build("parts/positions", "rotary", Place(12, heads=3, context=2000)).bfloat16()
    x = torch.ones(1, 1, 1, 4, dtype=torch.bfloat16)
    y = place.turn(x, torch.tensor([[1001]]))[0, 0, 0].float()
    for n, angle in enumerate([1001, 10.01]):
        wanted = torch.tensor([math.cos(angle) - math.sin(angle), math.sin(angle) + math.cos(angle)])
        torch.testing.assert_close(y[n::2], wanted, atol=0.02, rtol=0)


def test_rotary_angles_of_a_model_made_without_numbers_come_with_its_device():
    with torch.device("meta"):
        empty = build("parts/positions", "rotary", Place(12, heads=3, context=20))
    made = build("parts/positions", "rotary", Place(12, heads=3, context=20))
    x, positions = torch.randn(1, 3, 5, 4), torch.arange(5)[None]
    assert torch.equal(empty.to_empty(device="cpu").turn(x, positions), made.turn(x, positions))


def test_alibi_slopes_are_the_published_ones():
    """§3: for 8 heads 1/2 … 1/2⁸, for 16 heads 1/2^0.5 … 1/2^8; 12 heads as get_slopes(12) of the authors' code."""
    cpu = torch.device("cpu")
    assert slopes(8, cpu).tolist() == [2.0**-n for n in range(1, 9)]
    assert slopes(16, cpu).tolist() == pytest.approx([2 ** (-n / 2) for n in range(1, 17)])
    twelve = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625,
              0.7071067811865476, 0.35355339059327384, 0.17677669529663692, 0.08838834764831849]
    assert slopes(12, cpu).tolist() == pytest.approx(twelve)
    assert slopes(1, cpu).tolist() == [2.0**-8]


def test_alibi_grows_with_the_distance():
    bias_HQK = made("alibi").bias(torch.tensor([[4]]), torch.arange(7)[None], False)[0]
    for h, slope in enumerate(slopes(H, torch.device("cpu")).tolist()):
        assert bias_HQK[h, 0].tolist() == pytest.approx([-slope * abs(4 - k) for k in range(7)])


def published_bucket(relative_position, bidirectional, num_buckets, max_distance):
    """One number at a time, after Raffel et al.'s code; relative_position is memory minus query."""
    found, n = 0, -relative_position
    if bidirectional:
        num_buckets //= 2
        if n < 0:
            found, n = num_buckets, -n
    else:
        n = max(n, 0)
    exact = num_buckets // 2
    if n < exact:
        return found + n
    further = exact + int(math.log(n / exact) / math.log(max_distance / exact) * (num_buckets - exact) + 1e-6)
    return found + min(further, num_buckets - 1)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (8, 20), (4, 3)])
def test_relative_buckets_are_the_published_ones(causal, buckets, furthest):
    distances = torch.arange(-300, 301)
    wanted = [published_bucket(-back, not causal, buckets, furthest) for back in distances.tolist()]
    assert bucket(distances, buckets, furthest, causal).tolist() == wanted


def test_a_relative_bias_is_looked_up_for_each_head():
    place = made("relative_bias", buckets=8, furthest=20)
    bias_BHQK = place.bias(torch.tensor([[6]]), torch.arange(9)[None], False)
    assert bias_BHQK.shape == (1, H, 1, 9)
    [bias_HQK] = bias_BHQK
    assert torch.equal(bias_HQK[:, 0, 6], place.weight[0]) and torch.equal(bias_HQK[:, 0, 7], place.weight[4 + 1])


@pytest.mark.parametrize(("options", "words"), [({"buckets": 6}, "RelativeBias.buckets = 6, expected a multiple of 4"),
                                                ({"furthest": 16}, "RelativeBias.furthest = 16, expected more than")])
def test_impossible_buckets_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        made("relative_bias", **options)


def test_positions_know_how_many_heads_there_are():
    assert Shape().heads == 4  # as attention has it by default
    assert Shape(parts={"s": {"name": "attention", "heads": 2}}).heads == 2
    assert Shape(parts={"s": "gated_convolution"}).heads == 1
