"""--params: widths that every part can divide, and the nearest count of parameters."""

import pytest

torch = pytest.importorskip("torch")

from chainrule.experiments.sizing import is_scalable, scaled, scaled_values, size_of, width_for  # noqa: E402
from chainrule.families.neural import shape_of  # noqa: E402
from chainrule.models.stack import Stack  # noqa: E402
from chainrule.recipe.recipe import load_recipe  # noqa: E402


@pytest.mark.parametrize("name", ["lstm", "transformer", "gated-conv"])
def test_the_width_gives_about_so_many_parameters(name):
    recipe = load_recipe(name)
    width, count = width_for(recipe, 1_000_000, 2048)
    built = Stack(shape_of(load_recipe(name, [f"model.width={width}"])), 2048)  # can be built: heads divide it
    assert sum(p.numel() for p in built.parameters()) == count
    assert abs(count - 1_000_000) < 150_000
    for other in (-1, 1):  # no neighbor is nearer
        step = 8 if name != "transformer" else 8
        near = sum(p.numel() for p in Stack(shape_of(load_recipe(name, [f"model.width={width + other * step}"])),
                                            2048).parameters())
        assert abs(near - 1_000_000) >= abs(count - 1_000_000)


def test_sources_and_hidden_widths_grow_with_the_width():
    recipe = load_recipe("translation-transformer", ["model.source.width=64"])
    wider = scaled(recipe, 256)
    assert (wider.model.width, wider.model.source.width, wider.model.f["hidden"]) == (256, 128, 512)
    assert set(scaled_values(recipe, 256)) == {("width", 256), ("source", "width", 128), ("f", "hidden", 512),
                                               ("source", "f", "hidden", 512)}
    assert wider.description == recipe.description


def test_a_layer_that_is_as_wide_as_the_stream_stays_so():
    recipe = load_recipe("awd-lstm")
    width, count = width_for(recipe, 5_000_000, 10_000)
    assert abs(count - 5_000_000) < 500_000
    hidden = [part["hidden"] for part in (*scaled(recipe, width).model.parts.values(), scaled(recipe, width).model.r)
              if part and "hidden" in part]
    assert width in hidden and max(hidden) == pytest.approx(width * 1150 / 400, abs=8)


def test_widths_can_be_divided_by_heads_inside_parts():
    recipe = load_recipe("evolved-transformer", ["model.parts.a.one.heads=12", "model.width=96"])
    width, _ = width_for(recipe, 2_000_000, 300)
    assert width % 24 == 0


@pytest.mark.parametrize("name", ["bert-small", "t5-small"])
def test_sizes_are_those_that_cost_shows(name):
    from chainrule.recipe.registry import find

    recipe = load_recipe(name)
    assert size_of(recipe, 500) == find("families", "neural").parameters(recipe, 500)


def test_depth_is_traded_for_width_at_equal_parameters():
    shallow, deep = load_recipe("transformer"), load_recipe("transformer", ["model.depth=12"])
    assert deep.model.pattern == "(sf)*12" and deep.model_dump().get("depth") is None
    wanted = size_of(shallow, 2048)
    width, count = width_for(deep, wanted, 2048)
    assert width < shallow.model.width and abs(count - wanted) < 0.1 * wanted


def test_recipes_without_a_width_are_left_alone():
    assert not is_scalable(load_recipe("ngram")) and is_scalable(load_recipe("lstm"))
