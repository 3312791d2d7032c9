"""`chainrule recipes`: list the recipes that come with the package."""

from __future__ import annotations

from typing import Annotated

import typer

from chainrule.cli.terminal.console import Json, emit, table


def recipes(
    name: Annotated[str | None, typer.Argument(help="Show this recipe with all its options.")] = None,
    changes: Annotated[list[str] | None, typer.Argument(metavar="path=value", help="Changes to it.")] = None,
    json: Json = False,
) -> None:
    """List the shipped recipes, or show one with every option it has.

    Examples:

        chainrule recipes
        chainrule recipes ngram model.order=5 tokenizer.name=bytes
    """
    from chainrule.recipe.recipe import described, load_recipe

    if name is None:
        emit({"recipes": described()}, json, lambda data: table(
            ["recipe", "family", "what it makes"],
            [(each, row["family"], row["description"]) for each, row in data["recipes"].items()]))
    else:
        recipe = load_recipe(name, changes or [])
        emit(recipe.model_dump(mode="json"), json, lambda _: print(recipe.to_yaml(), end=""))
