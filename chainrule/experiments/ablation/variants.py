"""The variants of an ablation: the base, each change alone, and where asked for pairs or all combinations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chainrule.errors import ChainruleError, UsageError
from chainrule.experiments.ablation.terms import AblationTerms
from chainrule.experiments.contestants import Contestant, check_recipe, check_recipes, choices, distinct, folder_of
from chainrule.recipe.overrides import is_override

EXAMPLE = "for example: chainrule ablate transformer model.norm=layer,rms --data pydoc --budget 1m --out report"
RANDOM = "random:"  # of model.pattern: random:20:s*8f*8 are 20 random orders of these sublayers


@dataclass(frozen=True)
class Variants:
    """The base first; what each change on the command line became: a row, the base itself where that has it anyway."""

    entries: tuple[Contestant, ...]
    rows: dict[str, str]  # of each change alone, the name of its row
    drawn: tuple[str, ...] = ()  # changes that are random orders

    @property
    def base(self) -> Contestant:
        return self.entries[0]


def variants(words: Sequence[str], terms: AblationTerms) -> Variants:
    """`transformer model.norm=layer,rms`: the recipe as it is, and once with each value; equal recipes only once.

    Changes for all, of the terms, come first: they make another base.
    """
    source, options = _asked_for(words)
    lists, drawn = _values(options)
    base = Contestant(_stem(source), folder_of(_stem(source)), source, (), first=tuple(terms.changes))
    singles = [_variant(base, (change,)) for own in lists for change in own]
    resolved = {each.name: each.resolved(()) for each in (base, *singles)}
    check_recipes([resolved[base.name]])
    _check([resolved[each.name] for each in singles])
    kept: dict[str, Contestant] = {_identity(resolved[base.name]): base}
    rows = {}
    for each in singles:
        rows[each.changes[0]] = kept.setdefault(_identity(resolved[each.name]), each).name
    changed = [[change for change in own if rows[change] != base.name] for own in lists]
    for changes in _combinations(changed, terms.combine):
        each = _variant(base, changes)
        kept.setdefault(_identity(each.resolved(())), each)
    if len(kept) == 1:
        raise UsageError(f"{', '.join(rows)}: {base.name} has that already, expected at least one change of it.")
    return Variants(tuple(distinct(list(kept.values()))), rows, tuple(drawn))


def shown(change: str) -> str:
    """A change as a row is called: `f=geglu` for model.f.name=geglu."""
    path, _, value = change.partition("=")
    return f"{path.removeprefix('model.').removesuffix('.name')}={value}"


def _asked_for(words: Sequence[str]) -> tuple[str, list[str]]:
    recipes, options = [word for word in words if not is_override(word)], [word for word in words if is_override(word)]
    if len(recipes) != 1:
        told = f", got {len(recipes)}: {', '.join(recipes)}" if recipes else ""
        raise UsageError(f"ablate needs one recipe{told}, {EXAMPLE}")
    if not options:
        raise UsageError(f"ablate needs changes of {recipes[0]}, {EXAMPLE}")
    check_recipe(recipes[0])
    return recipes[0], options


def _values(options: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """The changes that each option stands for, and which of them are random orders; an option may be named twice."""
    found: dict[str, dict[str, None]] = {}
    drawn: list[str] = []
    for option in options:
        path = option.partition("=")[0]
        for change in choices(option, ""):
            several = _orders(path, change) if change.startswith(f"{path}={RANDOM}") else [change]
            drawn += several if several != [change] else []
            found.setdefault(path, {}).update(dict.fromkeys(several))
    return [list(changes) for changes in found.values()], drawn


def _orders(path: str, change: str) -> list[str]:
    """`random:20:s*8f*8` as 20 random orders of the sublayers."""
    from chainrule.models.orders import random_orders

    count, _, pattern = change.partition("=")[2].removeprefix(RANDOM).partition(":")
    if not count.isdigit() or not pattern:
        raise UsageError(f"{change}: expected a number and a pattern, such as {path}={RANDOM}20:s*8f*8.")
    return [f"{path}={each}" for each in random_orders(pattern, int(count), 0)]


def _combinations(lists: Sequence[Sequence[str]], combine: str) -> list[tuple[str, ...]]:
    """Changes of different options that are made together."""
    if combine == "pairs":
        return [pair for one, other in itertools.combinations(lists, 2) for pair in itertools.product(one, other)]
    if combine == "grid":
        whole = itertools.product(*([None, *own] for own in lists))
        return [changes for each in whole if len(changes := tuple(filter(None, each))) > 1]
    return []


def _variant(base: Contestant, changes: tuple[str, ...]) -> Contestant:
    name = " + ".join(map(shown, changes))
    return replace(base, name=name, folder=folder_of(name), changes=changes)


def _check(singles: Sequence[Contestant]) -> None:
    """Every change that does not fit, in a line each; the same problem with a path only once."""
    problems: dict[tuple[str, str], str] = {}
    for each in singles:
        try:
            check_recipes([each])
        except ChainruleError as error:
            change = each.changes[0]
            said = str(error).removeprefix(f"{each.name}: ")
            problems.setdefault((change.partition("=")[0], said), f"{change}: {said}")
    if problems:
        raise UsageError("\n".join(problems.values()))


def _identity(each: Contestant) -> str:
    """What two variants have in common that are trained alike: the recipe, apart from its description."""
    from chainrule.storage.json_text import json_text

    if each.recipe is None:
        return f"problem of {each.name}"
    data: dict[str, Any] = each.recipe.model_dump(mode="json")
    return json_text({name: value for name, value in data.items() if name != "description"})


def _stem(source: str) -> str:
    return Path(source).stem if Path(source).suffix in (".yaml", ".yml") else Path(source).name
