"""The terms of a comparison: what all recipes share, and how each is changed so that they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chainrule.errors import ChainruleError, OptionError, UsageError
from chainrule.experiments.contestants import Contestant
from chainrule.experiments.engines._engine import Engine
from chainrule.experiments.sizing import CLOSE, is_scalable, scaled, size_of, width_for
from chainrule.recipe.overrides import parse_overrides, unknown_path
from chainrule.recipe.recipe import Recipe, load_recipe
from chainrule.recipe.registry import build, has, names, resolve
from chainrule.recipe.strict_yaml import load_yaml
from chainrule.storage.json_text import json_text
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.encoded import fit_and_encode
from chainrule.training.plan import Budget

KIND, ENGINES = "text/tokenizers", "experiments/engines"
OWN, BASE, SIZE = "own", "base", 2048
BYTES_PER_TOKEN = 50  # of training text for each learned token, at least: fewer are not worth a vector of their own
LOOKED = "training.evaluate_tokens"
LEAST, MOST, PER_SECOND = 2048, 1 << 16, 64
ALWAYS = 258  # tokens that byte pairs begin from


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The options of `compare`, with their defaults."""

    valid: str | Path | Sequence[str | Path] | None = None  # held-out text; None holds out a part of the data
    tokenizer: str | Mapping[str, Any] | None = None  # one for all: None for byte pairs; "own" for each its own
    seeds: int = 1
    params: int | str | None = None  # about how many parameters each gets that has a width: "400k"; "base": the first's
    grid: Sequence[str] = ()  # path=value,value: variants of each recipe
    changes: Sequence[str] = ()  # path=value for every recipe that has such an option
    target: str | Path | Sequence[str | Path] | None = None  # what belongs to the data line by line: translations
    valid_target: str | Path | Sequence[str | Path] | None = None  # the same of `valid`
    on: str = "here"  # where trainings run: the processes of this machine, or "ray" for a Ray cluster
    side_by_side: int = 1  # trainings at a time on each GPU, or on the CPU where there is none

    def engine(self) -> Engine:
        """What runs the trainings."""
        return build(ENGINES, self.on, self.side_by_side)

    def flags(self) -> list[str]:
        """Where trainings run, as options of the command line."""
        return [*(["--on", self.on] if self.on != "here" else []),
                *(["--side-by-side", str(self.side_by_side)] if self.side_by_side != 1 else [])]


def chosen_tokenizer(choice: str | Mapping[str, Any] | None, train_bytes: int) -> tuple[dict[str, Any], str | None]:
    """The shared tokenizer with all its options, and a note if a short text made it smaller."""
    if choice is None:
        size = min(SIZE, ALWAYS + max(1, train_bytes // BYTES_PER_TOKEN))
        note = (f"the text is so short ({train_bytes:,} bytes to train on) that the shared tokenizer has {size:,} byte "
                f"pairs at most, not {SIZE:,}.") if size < SIZE else None
        return resolve(KIND, {"name": "byte_pair", "size": size}), note
    if isinstance(choice, str):
        choice = load_yaml(choice, "--tokenizer") if choice.lstrip().startswith("{") else choice
    if isinstance(choice, str) and not has(KIND, choice):
        raise OptionError("--tokenizer", choice, f"{OWN!r}, {', '.join(names(KIND))}, or such as "
                          "'{name: byte_pair, size: 4096}'")
    return resolve(KIND, choice), None


def applicable(contestant: Contestant, changes: Sequence[str]) -> list[str]:
    """The shared changes that this recipe has options for."""
    try:
        schema = type(load_recipe(contestant.source, [*contestant.first, *contestant.changes]))
    except ChainruleError:
        return []  # it says so itself when it is resolved
    return [text for text, change in zip(changes, parse_overrides(changes), strict=True)
            if unknown_path(schema, change.path) is None]


def shared_changes(contestant: Contestant, terms: Terms, budget: Budget, tokenizer: Mapping[str, Any] | None
                   ) -> list[str]:
    """What makes a recipe comparable with the others."""
    found = applicable(contestant, terms.changes)
    if tokenizer is not None:
        found.append(f"tokenizer={json_text(tokenizer)}")
    given = (*terms.changes, *contestant.first, *contestant.changes)
    looked = [] if any(change.startswith(LOOKED) for change in given) else [
        f"{LOOKED}={looked_at(budget)}"]
    return [*found, *applicable(contestant, [f"training.budget.{budget.kind}={budget.amount!r}", *looked])]


def looked_at(budget: Budget) -> int:
    """Held-out tokens for each point of a curve: ten evaluations should take a few percent of a budget in seconds."""
    return min(MOST, max(LEAST, round(PER_SECOND * budget.amount))) if budget.kind == "seconds" else MOST


def all_sized(entries: Sequence[Contestant], params: int | None, train: Corpus
              ) -> tuple[list[Contestant], list[str]]:
    """With widths that give about so many parameters, by default as many as the first has; notes on those far off."""
    known: dict[str, int] = {}

    def tokens(recipe: Recipe) -> int:
        key = json_text(recipe.tokenizer)
        if key not in known:
            known[key] = vocabulary(recipe, train)
        return known[key]

    found, notes, first = [], [], entries[0].recipe
    if params is None and first is not None:
        if not is_scalable(first):
            raise UsageError(f"--params = {BASE}: {entries[0].name} has no width, expected a recipe with one.")
        params = size_of(first, tokens(first))
        found.append(entries[0])
    for each in entries[len(found):]:
        own, sentence = each, None
        if each.recipe is not None and is_scalable(each.recipe) and params is not None:
            own, sentence = sized(each, params, tokens(each.recipe))
        found.append(own)
        notes += [sentence] if sentence else []
    return found, notes


def sized(contestant: Contestant, params: int, vocabulary_size: int) -> tuple[Contestant, str | None]:
    """With a width that gives about so many parameters, and a note if it is far off."""
    recipe = contestant.recipe
    assert recipe is not None
    try:
        width, count = width_for(recipe, params, vocabulary_size)
    except ChainruleError as error:
        return replace(contestant, recipe=None, problem=str(error)), None
    note = None if abs(count - params) <= CLOSE * params else (
        f"{contestant.name} has {count:,} parameters at width {width}, the nearest to {params:,} that it can have.")
    return replace(contestant, recipe=scaled(recipe, width)), note


def vocabulary(recipe: Recipe, train: Corpus) -> int:
    """How many tokens the recipe's tokenizer has after reading the training text."""
    return fit_and_encode(train, build(KIND, recipe.tokenizer), recipe.text)[0].vocabulary_size


def reads_alike(contestants: Sequence[Contestant]) -> Recipe:
    """The first recipe; one with different text or split options is refused."""
    first = contestants[0].recipe
    assert first is not None
    for each in contestants[1:]:
        assert each.recipe is not None
        for section in ("text", "split"):
            if getattr(each.recipe, section) != getattr(first, section):
                raise UsageError(f"{each.name} and {contestants[0].name} have different {section} sections, expected "
                                 f"the same text for all. Set it for all with --change {section}.…=….")
    return first
