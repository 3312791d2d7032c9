"""How wide a recipe must be to have about so many parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from chainrule.errors import UsageError
from chainrule.recipe.recipe import Recipe, make_recipe

WIDEST = 1 << 17
CLOSE = 0.25  # a note is added if the size is further off than this share


def width_for(recipe: Recipe, parameters: int, vocabulary_size: int) -> tuple[int, int]:
    """The width whose count of parameters is nearest, and that count; nothing is trained, no memory is allocated."""
    step = _step(recipe)

    def size(steps: int) -> int:
        return size_of(scaled(recipe, steps * step), vocabulary_size)

    low, high = 1, 2
    while size(high) < parameters:
        low, high = high, high * 2
        if high * step > WIDEST:
            raise UsageError(f"{parameters:,} parameters: a width of {WIDEST:,} is not enough, expected fewer.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) < parameters else (low, middle)
    best = min((low, high), key=lambda steps: abs(size(steps) - parameters))
    return best * step, size(best)


def scaled(recipe: Recipe, width: int) -> Any:
    """The recipe with another width; the source's and hidden widths that it names grow or shrink as much."""
    data = recipe.model_dump(mode="json")
    for *path, last, value in scaled_values(recipe, width):
        inside = data["model"]
        for name in path:
            inside = inside[name]
        inside[last] = value
    return make_recipe(data)


def scaled_values(recipe: Recipe, width: int) -> Iterator[tuple[Any, ...]]:
    """What changes in the model: `("width", 256)`, `("f", "hidden", 512)`, `("source", "width", 256)`."""
    model, step = recipe.model_dump(mode="json")["model"], _step(recipe)
    ratio = width / model["width"]
    yield "width", width
    if (source := model.get("source")) is not None:
        yield "source", "width", max(step, round(source["width"] * ratio / step) * step)
    for *path, hidden in _found(model, "hidden"):
        same = hidden == model["width"]  # a layer that is as wide as the stream stays so
        yield *path, width if same else max(8, round(hidden * ratio / 8) * 8)


def size_of(recipe: Any, vocabulary_size: int) -> int:
    """The parameters of a recipe with so many tokens."""
    from chainrule.families.neural import shape_of
    from chainrule.models.cost.counting import parameters
    from chainrule.recipe.registry import build

    task = build("tasks", recipe.task)
    return parameters(shape_of(recipe, causal=task.causal), task.sizes(vocabulary_size))


def is_scalable(recipe: Recipe) -> bool:
    """Whether the recipe has a width."""
    return "width" in type(recipe.model).model_fields


def _step(recipe: Recipe) -> int:
    """Widths that every part can divide: an even width for each head, and whole groups of eight."""
    return math.lcm(8, *(2 * heads for *_, heads in _found(recipe.model_dump(mode="json")["model"], "heads")))


def _found(options: Mapping[str, Any], name: str) -> Iterator[tuple[Any, ...]]:
    """Every number under this name, behind the path to it: `("f", "hidden", 256)`."""
    for key, value in options.items():
        if key == name and isinstance(value, int) and value > 0:
            yield key, value
        elif isinstance(value, Mapping):
            yield from ((key, *rest) for rest in _found(value, name))
