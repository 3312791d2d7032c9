"""Positions side by side: the fixed forms see only the distance, a learned one is the model's own table."""

import numpy as np
import pytest
import torch
from torch import nn

from chainrule.models.engine_stack import EngineStack, imported
from chainrule.models.inside.positions import FIXED, MEASURES, fixed, of_engine_stack, of_stack
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.recipe.registry import names

PLACE = Place(12, context=9, heads=3)


def made(position, heads=3):
    torch.manual_seed(0)
    attention = {"name": "attention", "heads": heads}
    return Stack(Shape(pattern="sf", width=12, context=9, parts={"s": attention}, position=position), 17)


@pytest.mark.parametrize("name", FIXED)
def test_a_fixed_form_sees_the_distance_alone(name):
    similarity = fixed(name, PLACE).similarity
    for distance in range(9):
        np.testing.assert_allclose(np.diagonal(similarity, distance), similarity[0, distance], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.diagonal(similarity), 1, rtol=1e-6)
    np.testing.assert_allclose(similarity, similarity.T, atol=1e-6)


def test_sinusoids_are_the_mean_of_cosines_of_the_distance():
    rates = 10_000.0 ** (-np.arange(0, 12, 2) / 12)
    np.testing.assert_allclose(fixed("sinusoidal", PLACE).similarity[0],
                               [np.cos(d * rates).mean() for d in range(9)], rtol=1e-5, atol=1e-6)


def test_turned_ones_are_the_mean_of_cosines_of_the_head():
    rates = 10_000.0 ** (-np.arange(2) / 2)  # two pairs in a head of 4
    np.testing.assert_allclose(fixed("rotary", PLACE).similarity[0],
                               [np.cos(d * rates).mean() for d in range(9)], rtol=1e-5, atol=1e-6)


def test_alibi_is_the_mean_of_each_heads_decay():
    slopes = [2 ** (-8 * h / 4) for h in range(1, 5)]
    np.testing.assert_allclose(fixed("alibi", Place(12, context=9, heads=4)).similarity[0],
                               [np.mean([np.exp(-m * d) for m in slopes]) for d in range(9)], rtol=1e-5)


def test_a_learned_table_is_shown_as_it_is_beside_the_fixed_forms():
    stack = made("learned")
    nn.init.normal_(stack.position.weight)
    found = of_stack(stack)
    assert [(each.name, each.own) for each in found] == [("learned", True), *((name, False) for name in FIXED)]
    table = stack.position.weight.detach()
    wanted = [[float(torch.cosine_similarity(table[i], table[j], dim=0)) for j in range(9)] for i in range(9)]
    np.testing.assert_allclose(found[0].similarity, wanted, rtol=1e-4, atol=1e-6)
    assert len({each.similarity.shape for each in found}) == 1


@pytest.mark.parametrize("position", ["learned", "rotary", {"name": "rotary", "base": 50.0}, "none"])
def test_a_model_of_the_engine_shows_its_own_as_torch_does(position):
    stack = made(position)
    twin = EngineStack(stack.shape, 17, np.random.default_rng(0))
    imported(twin, {name: each.detach().numpy() for name, each in stack.named_parameters()})
    own, found = [each for each in of_stack(stack) if each.own], of_engine_stack(twin)
    assert [(each.name, each.own, each.measure) for each in found] == [(each.name, True, each.measure) for each in own]
    for mine, other in zip(found, own, strict=True):
        np.testing.assert_allclose(mine.similarity, other.similarity, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", names("parts/positions"))
def test_every_form_is_shown_once_or_left_out(name):
    found = of_stack(made(name))
    if name == "none":
        assert found == []
        return
    assert found[0].name == name and found[0].own and found[0].measure in MEASURES
    assert sorted(each.name for each in found) == sorted({name, *FIXED})
    assert all(np.isfinite(each.similarity).all() for each in found)
