"""`chainrule cost`: what a model would cost, before it is trained."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, say, table
from chainrule.cli.terminal.units import readable_seconds, scaled_bytes, scaled_flops

GUESSED = {"words": 10_000, "characters": 128}  # vocabulary sizes, if no text is given


def cost(
    recipe: Annotated[str, typer.Argument(help="A shipped recipe (see `chainrule recipes`), a YAML file or a run.")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="path=value", help="Changes to it.")] = None,
    data: Annotated[str | None, typer.Option(help="The text that decides the vocabulary and an epoch's tokens: a "
                                                  "path, a glob, a folder, or a built-in corpus' name.")] = None,
    tokens: Annotated[float | None, typer.Option(help="Tokens to train on, instead of the recipe's budget.")] = None,
    vocabulary: Annotated[int | None, typer.Option(help="Size of the vocabulary, where the text decides it.")] = None,
    match_params: Annotated[str | None, typer.Option(
        "--match-params", metavar="COUNT|RECIPE", help="Scale widths so that there are about so many parameters (20M), "
                                                       "or as many as another recipe has.")] = None,
    measure: Annotated[bool, typer.Option("--measure", help="Measure this machine's speed again.")] = False,
    json: Json = False,
) -> None:
    """Show parameters, arithmetic, memory and time of a model before it is trained.

    Nothing is trained and no memory is allocated. The speed of this machine is measured, which takes seconds, and
    cached for a day. If other work slowed the machine down then, --measure measures it again.

    Examples:

        chainrule cost transformer
        chainrule cost engine-transformer --data pydoc
        chainrule cost gpt3-175b --tokens 3e11
        chainrule cost lstm model.width=512 --vocabulary 10000
        chainrule cost runs/lstm training.budget.tokens=1e8
        chainrule cost transformer model.depth=12 --match-params transformer
    """
    from chainrule.errors import UsageError
    from chainrule.recipe.recipe import load_recipe
    from chainrule.recipe.registry import find

    for name, value in (("--tokens", tokens), ("--vocabulary", vocabulary)):
        if value is not None and not 1 <= value < float("inf"):
            raise UsageError(f"{name} = {value:g}, expected at least 1.")
    resolved: Any = load_recipe(recipe, overrides or [])
    family: Any = find("families", resolved.family)
    if not family.layered:
        note = (f"a model of the family {resolved.family!r} is not trained in steps: its size and time depend on the "
                "text alone, and `chainrule train` reports them.")
        emit({"recipe": recipe, "family": resolved.family, "note": note}, json, lambda found: print(note))
        return
    if data is not None:
        if vocabulary is not None:
            raise UsageError("--data and --vocabulary both decide the vocabulary. Give one of the two.")
        vocabulary, length = _read(resolved, data)
        tokens = tokens or ((epochs := resolved.training.budget.epochs) and epochs * length)
    elif vocabulary is None and not any(change.startswith("tokenizer") for change in overrides or ()):
        vocabulary = _of_run(recipe)
    size = vocabulary or _vocabulary(resolved.tokenizer)
    resolved, matched = (resolved, {}) if match_params is None else _matched(resolved, match_params, size)
    found = family.cost(resolved, size, tokens, measure=measure)
    emit({"recipe": recipe, "family": resolved.family, **matched, **found}, json, _show)


def _matched(recipe: Any, wanted: str, vocabulary: int) -> tuple[Any, dict[str, Any]]:
    """The recipe with widths that give about as many parameters, and what to say about them."""
    from chainrule.errors import UsageError
    from chainrule.experiments.budget import AMOUNT, parse_size
    from chainrule.experiments.sizing import is_scalable, scaled, scaled_values, size_of, width_for
    from chainrule.recipe.recipe import load_recipe

    number = AMOUNT.fullmatch(wanted.strip())
    other: Any = None if number else load_recipe(wanted)
    if other is not None and not is_scalable(other):
        raise UsageError(f"--match-params = {wanted}: no recipe with a width, expected a neural one or a number such "
                         "as 20M.")
    width, _ = width_for(recipe, parse_size("--match-params", wanted) if other is None else size_of(other, vocabulary),
                         vocabulary)
    changes = [f"model.{'.'.join(path)}={value}" for *path, value in scaled_values(recipe, width)]
    return scaled(recipe, width), {"match_params": wanted, "changes": changes}


def _of_run(recipe: str) -> int | None:
    """The size of the vocabulary of a finished run; None for a recipe."""
    from chainrule.recipe.recipe import shipped
    from chainrule.storage import open_run
    from chainrule.text.tokenizer import load_tokenizer

    if recipe in shipped() or not (Path(recipe) / "tokenizer.json").is_file():
        return None
    return load_tokenizer(open_run(recipe).file("tokenizer.json")).vocabulary_size


def _read(recipe: Any, data: str) -> tuple[int, int]:
    """The size of the vocabulary that the recipe's tokenizer makes of a text, and the text's tokens."""
    from chainrule.errors import UsageError
    from chainrule.recipe.registry import build
    from chainrule.text.corpora import open_corpus
    from chainrule.text.encoded import fit_and_encode

    if recipe.tokenizer is None:
        raise UsageError(f"--data = {data}: only the tokens of texts are counted, and this recipe reads none. Give "
                         "--tokens.")
    tokenizer, encoded = fit_and_encode(open_corpus(data, recipe.text), build("text/tokenizers", recipe.tokenizer),
                                        recipe.text)
    return tokenizer.vocabulary_size, len(encoded.ids)


def _vocabulary(tokenizer: dict[str, Any] | None) -> int:
    """The size of the vocabulary of the recipe's tokenizer, assumed where it depends on the text."""
    if tokenizer is None:
        return 0
    if tokenizer.get("size"):
        return int(tokenizer["size"])
    if tokenizer["name"] in GUESSED:
        size = GUESSED[tokenizer["name"]]
        say(f"the text decides how many {tokenizer['name']} there are; {size:,} are assumed. Set --vocabulary.")
        return size
    return 258  # every byte, and two marks


def _show(found: dict[str, Any]) -> None:
    rows = [(part["kind"], part["name"], part["times"], part["parameters"], scaled_flops(part["forward"]),
             scaled_flops(part["training"])) for part in found["parts"]]
    total = found["flops_per_token"]
    rows.append(("all", "", 1, found["parameters"], scaled_flops(total["forward"]), scaled_flops(total["training"])))
    table(["part", "", "times", "parameters", "FLOPs/token", "in training"], rows)
    memory, cache, speed = found["training_bytes"], found["decoding_bytes"], found["speed"]
    words = [("vocabulary, context", f"{found['vocabulary']:,} tokens, {found['context']:,} at a time")]
    lines = [*(words if found["vocabulary"] else [("context", f"{found['context']:,} places at a time")]),
             ("memory for training", f"{scaled_bytes(memory['total'])}: " + ", ".join(
                 f"{name} {scaled_bytes(size)}" for name, size in memory.items() if name != "total" and size)),
             ("memory for decoding", f"{scaled_bytes(cache['fixed'])} and {scaled_bytes(cache['per_token'])} for each "
                                     "token"),
             ("speed here", f"{scaled_flops(speed['flops'])}FLOP/s, {_rate(speed['tokens'])} tokens/s "
                            f"({speed['measured']}; measured {_ago(speed['when'])})")]
    if "changes" in found:
        lines.insert(0, ("to match", f"{found['match_params']}: {' '.join(found['changes'])}"))
    lines += _run(found["run"]) if "run" in found else [("training", found["open"])]
    table(["", ""], lines)


def _rate(value: float) -> str:
    """`10,570`, `3.14`: no powers of ten, unless a model is very slow."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ago(when: float) -> str:
    """`now`, `5 min ago; --measure measures again`"""
    minutes = (time.time() - when) / 60
    if minutes < 1:
        return "now"
    return f"{f'{minutes:.0f} min' if minutes < 120 else f'{minutes / 60:.0f} hours'} ago; --measure measures again"


def _run(run: dict[str, Any]) -> list[tuple[str, str]]:
    return [("training", f"{run['tokens']:,.4g} tokens, {scaled_flops(run['flops'])}FLOP, {run['petaflop_days']:,.4g} "
                         "petaflop/s-days"),
            ("by the rule 6ND", f"{scaled_flops(run['flops_6nd'])}FLOP, {run['petaflop_days_6nd']:,.4g} "
                                "petaflop/s-days"),
            ("time here", readable_seconds(run["seconds"]))]
