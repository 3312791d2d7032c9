"""What is compared: each recipe with its changes becomes a row with a name and a folder."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chainrule.contests import Contested
from chainrule.errors import ChainruleError, UsageError
from chainrule.protocols import LanguageModel
from chainrule.recipe.overrides import with_changes
from chainrule.recipe.recipe import Recipe, load_recipe, recipe_path
from chainrule.recipe.registry import build, find

SHARED = {"training.budget": "--budget decides it", "seed": "--seeds decides it",
          "split": "one split serves all: --change split.valid=0.2", "text": "all read the text alike: --change text.…"}
LONGEST = 80  # characters of a folder's name
VOCABULARY = 1 << 14  # tokens of a model that is built for a check; those of the text are not known yet


@dataclass(frozen=True)
class Contestant:
    """One row: a recipe, or the problem with it."""

    name: str
    folder: str
    source: str
    changes: tuple[str, ...]
    recipe: Recipe | None = None
    problem: str | None = None
    first: tuple[str, ...] = ()  # changes of the recipe that all its variants share

    def resolved(self, shared: Sequence[str]) -> Contestant:
        """With its recipe read and changed, or with the problem."""
        try:
            recipe = load_recipe(self.source, [*self.first, *self.changes, *shared])
            family: Any = find("families", recipe.family)
            family.ready()
            task = build("tasks", recipe.task)
            if task.ability is not LanguageModel and not isinstance(task, Contested):
                raise UsageError(f"a model of the family {recipe.family!r} for the task {recipe.task['name']!r} is not "
                                 "a language model: it predicts no text, so it has no bits per byte.")
            return replace(self, recipe=recipe)
        except ChainruleError as error:
            return replace(self, problem=" ".join(str(error).split()))


def one_task(entries: Sequence[Contestant]) -> Any:
    """The task of all recipes; different ones are refused, for no measure serves both.

    Language models are compared by the text itself, whatever task they were trained on.
    """
    found: dict[str, tuple[str, Any]] = {}
    for each in entries:
        if each.recipe is not None:
            task = build("tasks", each.recipe.task)
            usual = "language" if task.ability is LanguageModel else str(each.recipe.task["name"])
            kind = getattr(task, "ranked_as", usual)  # tasks that are ranked by one measure on one kind of data
            found.setdefault(kind, (each.name, task))
    if len(found) > 1:
        told = " and ".join(f"{name} ({task.kind})" for name, task in found.values())
        raise UsageError(f"{told} are of different tasks, expected one task for all: no measure serves both. Compare "
                         "them apart.")
    return next((task for _, task in found.values()), None)


def contestants(words: Sequence[str], grid: Sequence[str] = (), *, own_tokenizers: bool = False) -> list[Contestant]:
    """`lstm ngram model.order=3` are two; each value of a `grid` (`model.width=64,128`) makes a row of each."""
    variants = [tuple(each) for each in itertools.product(*map(choices, grid))]
    found: list[Contestant] = []
    for source, changes in _asked_for(words):
        check_recipe(source)
        found += [_named(source, (*changes, *variant)) for variant in variants]
    check_shared(found, own_tokenizers=own_tokenizers)
    return distinct(found)


def check_recipes(resolved: Sequence[Contestant]) -> None:
    """Refuses, before anything is trained, what can be known to fail without the text: a line for each recipe."""
    problems = [f"{each.name}: {problem}" for each in resolved if (problem := each.problem or _unbuildable(each))]
    if problems:
        raise UsageError("\n".join(problems))


def _unbuildable(each: Contestant) -> str | None:
    """Why no model of this recipe can be built, whatever the text: a width that heads do not divide, say."""
    assert each.recipe is not None
    family: Any = find("families", each.recipe.family)
    try:
        family.parameters(each.recipe, VOCABULARY)
    except ChainruleError as error:
        return " ".join(str(error).split())
    return None


def _asked_for(words: Sequence[str]) -> list[tuple[str, list[str]]]:
    found = with_changes(words, "For all: --change {}")
    if not found:
        raise UsageError("compare needs recipes, for example: chainrule compare ngram lstm --data pydoc --budget 1m "
                         "--out report")
    return found


def check_recipe(source: str) -> None:
    """An unknown name is an error in the command; so is a text, which `--data *.txt` without quotes gives."""
    path = recipe_path(source)
    if not path.is_file():
        raise UsageError(f"{source}: no such file, expected a recipe.")
    if path.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{source}: expected a recipe, whose file's name ends in .yaml. A text has --data before it, "
                         "each its own; a pattern stands in quotes: --data '*.txt'.")


def choices(option: str, where: str = "--grid ") -> list[str]:
    """`model.width=64,128` as two changes; commas inside brackets and quotes do not separate."""
    path, equals, values = option.partition("=")
    choices = _apart(values)
    if not equals or not path or not all(choices):
        raise UsageError(f"{where}{option}: expected a path and its values, such as model.width=64,128,256.")
    return [f"{path}={choice}" for choice in choices]


def _apart(values: str) -> list[str]:
    found, depth, quote = [""], 0, ""
    for each in values:
        if each == "," and not depth and not quote:
            found.append("")
            continue
        if quote or each in "\"'":
            quote = "" if each == quote else quote or each
        else:
            depth = max(0, depth + (each in "[{") - (each in "]}"))
        found[-1] += each
    return found


def check_shared(entries: Sequence[Contestant], *, own_tokenizers: bool = False) -> None:
    """Options that all recipes share cannot be changed for one of them."""
    rules = SHARED | ({} if own_tokenizers else {"tokenizer": "all share one, unless --tokenizer own"})
    for change in (change for each in entries for change in each.changes):
        path = change.partition("=")[0]
        for place, reason in rules.items():
            if path == place or path.startswith(f"{place}."):
                raise UsageError(f"{change}: cannot be changed for one recipe alone, {reason}.")


def _named(source: str, changes: tuple[str, ...]) -> Contestant:
    base = Path(source).stem if Path(source).suffix in (".yaml", ".yml") else Path(source).name
    name = " ".join([base, *(change.removeprefix("model.") for change in changes)])
    return Contestant(name, folder_of(name), source, changes)


def folder_of(name: str) -> str:
    """The name as a folder name: characters that every file system has, and no equals sign, which begins a value."""
    plain = re.sub(r"[^\w.,+-]+", "-", name).strip("-.") or "model"
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def distinct(found: list[Contestant]) -> list[Contestant]:
    """Files of the same name are numbered; the same recipe twice is refused."""
    seen: dict[str, int] = {}
    given: set[tuple[str, tuple[str, ...]]] = set()
    result = []
    for each in found:
        if (each.source, each.changes) in given:
            raise UsageError(f"{each.name} is named twice, expected different recipes. --seeds 2 trains each twice.")
        given.add((each.source, each.changes))
        count = seen[each.folder] = seen.get(each.folder, 0) + 1
        result.append(each if count == 1 else replace(each, name=f"{each.name} ({count})",
                                                      folder=f"{each.folder}.{count}"))
    return result
