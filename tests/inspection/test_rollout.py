"""Rollout: the paper's recursion, written as slow loops, and maps as they are taken from what was noted."""

import numpy as np
import pytest
import torch

from chainrule.inspection.attention import Map, maps, shortened
from chainrule.inspection.rollout import rollout
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.watching import watch

IDS = torch.arange(14).reshape(2, 7)


def causal_maps(layers, heads, time, seed=0):
    scores = np.random.default_rng(seed).normal(size=(layers, heads, time, time))
    weights = np.exp(scores) * np.tril(np.ones((time, time)))
    return weights / weights.sum(-1, keepdims=True)


def by_the_definition(weights, layer):
    """Abnar & Zuidema 2020, eq. 1, one path at a time: from token k through every token m of the layer below."""
    heads, time = weights.shape[1], weights.shape[2]
    raw = [[sum(weights[layer, h, q, k] for h in range(heads)) / heads for k in range(time)] for q in range(time)]
    passing = [[0.5 * raw[q][k] + 0.5 * (q == k) for k in range(time)] for q in range(time)]
    if layer == 0:
        return np.array(passing)
    below = by_the_definition(weights, layer - 1)
    return np.array([[sum(passing[q][m] * below[m][k] for m in range(time)) for k in range(time)] for q in range(time)])


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_rollout_is_the_recursion_of_the_paper(layers):
    weights = causal_maps(layers, 3, 5)
    for layer, found in enumerate(rollout(list(weights))):
        np.testing.assert_allclose(found, by_the_definition(weights, layer))
        np.testing.assert_allclose(found.sum(-1), 1)
        assert not np.triu(found, 1).any()


def test_without_layers_there_is_no_rollout():
    assert rollout([]) == []


@pytest.mark.parametrize("position", ["rotary", "alibi", "learned"])
def test_maps_are_those_of_each_layer_and_no_token_looks_ahead(position):
    torch.manual_seed(0)
    attention = {"name": "attention", "heads": 3}
    stack = Stack(Shape(pattern="(sf)*2", width=12, context=9, parts={"s": attention}, position=position), 17)
    with watch() as seen:
        stack(IDS)
    found = maps(seen)
    assert [each.layer for each in found] == [0, 2]
    for each in found:
        assert each.weights.shape == (3, 7, 7)
        np.testing.assert_allclose(each.weights.sum(-1), 1, rtol=1e-6)
        assert not np.triu(each.weights, 1).any()
    torch.testing.assert_close(torch.from_numpy(found[1].weights), seen["sublayers.2/attention"][0][0].double())


def test_maps_of_a_member_are_found_by_its_place():
    own = torch.ones(1, 1, 1, 1)
    places = ("members.1/sublayers.10", "members.1/sublayers.2", "sublayers.0")
    seen = {f"{place}/attention": [own] for place in places}
    assert [each.layer for each in maps(seen, "members.1/")] == [2, 10]
    assert [each.layer for each in maps(seen)] == [0]
    assert maps(seen, "members.0/") == []


def test_too_many_maps_are_shortened_and_still_sum_to_one():
    found = shortened([Map(0, causal_maps(1, 4, 20)[0]), Map(2, causal_maps(1, 4, 20)[0])], most=8 * 36)
    assert {each.weights.shape for each in found} == {(4, 6, 6)}
    np.testing.assert_allclose(found[0].weights.sum(-1), 1)
