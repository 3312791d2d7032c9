"""How wide a recipe must be to have about so many parameters."""

from __future__ import annotations

import math
from typing import Any

from chainrule.errors import UsageError
from chainrule.recipe.recipe import Recipe, make_recipe

WIDEST = 1 << 17
CLOSE = 0.25  # a note is added if the size is further off than this share


def width_for(recipe: Recipe, parameters: int, vocabulary_size: int) -> tuple[int, int]:
    """The width whose count of parameters is nearest, and that count; nothing is trained, no memory is allocated."""
    step = _step(recipe)

    def size(steps: int) -> int:
        return size_of(_with_width(recipe, steps * step), vocabulary_size)

    low, high = 1, 2
    while size(high) < parameters:
        low, high = high, high * 2
        if high * step > WIDEST:
            raise UsageError(f"--params {parameters:,}: a width of {WIDEST:,} is not enough, expected fewer.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) < parameters else (low, middle)
    best = min((low, high), key=lambda steps: abs(size(steps) - parameters))
    return best * step, size(best)


def size_of(recipe: Recipe, vocabulary_size: int) -> int:
    """The parameters of a recipe with so many tokens."""
    from chainrule.families.neural import shape_of
    from chainrule.models.cost.counting import parameters

    return parameters(shape_of(recipe), vocabulary_size)


def is_scalable(recipe: Recipe) -> bool:
    """Whether the recipe has a width."""
    return "width" in type(recipe.model).model_fields


def _step(recipe: Recipe) -> int:
    """Widths that every part can divide: an even width for each head, and whole groups of eight."""
    heads = [part["heads"] for _, part in recipe.model if isinstance(part, dict) and part.get("heads")]
    return math.lcm(8, *(2 * each for each in heads))


def _with_width(recipe: Recipe, width: int) -> Any:
    return make_recipe(recipe.model_dump(mode="json"), [f"model.width={width}"])
