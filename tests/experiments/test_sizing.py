"""--params: widths that every part can divide, and the nearest count of parameters."""

import pytest

torch = pytest.importorskip("torch")

from chainrule.experiments.sizing import is_scalable, width_for  # noqa: E402
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


def test_recipes_without_a_width_are_left_alone():
    assert not is_scalable(load_recipe("ngram")) and is_scalable(load_recipe("lstm"))
