"""Going on: a training that starts from a finished run, with the run's tokenizer and what it has learned."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chainrule.errors import OptionError, StorageError, UsageError
from chainrule.recipe.recipe import RECIPE, Recipe, StartFrom, load_recipe, shipped
from chainrule.recipe.registry import build, find
from chainrule.runs import COUNTS, REPORT, TOKENIZER, recipe_of
from chainrule.storage import open_run
from chainrule.storage.json_files import FACTS, read_object
from chainrule.storage.manifest import NAME, hashed

KEPT = ("text", "tokenizer", "task", "model")  # sections that are as in the run where a recipe does not say
SAME = ("tokenizer", "model")  # sections that must be as in the run, but for what the family lets change
log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class Start:
    """A finished run that a training starts from: all of it but the model, of which a family reads what it needs."""

    path: Path
    recipe: Any
    tokenizer: Any  # a `Tokenizer`; None where neither inputs nor outputs are text
    report: Mapping[str, Any]
    files: Sequence[str]
    sha256: str  # of its MANIFEST.json, and so of all of it
    part: str = "all"  # or its encoder, for another task

    @property
    def facts(self) -> Mapping[str, Any]:
        """What its known.json says; nothing where there is none."""
        return read_object(self.path / FACTS) if FACTS in self.files else {}


def open_start(run: str | Path, sha256: str | None = None) -> Start:
    """Opens the run; one that is not the run of this checksum is refused."""
    from chainrule.text.tokenizer import load_tokenizer

    folder = open_run(run)
    if COUNTS in folder.files:
        raise StorageError(f"{run}: holds counts, not a model. Make one with chainrule merge {run} --out RUN.")
    found = hashed(folder.path / NAME).sha256
    if sha256 is not None and found != sha256:
        raise StorageError(f"{run}: not the run that this recipe starts from: its manifest has the SHA-256 "
                           f"{found[:16]}…, expected {sha256[:16]}…. To start from it as it is now: --from {run}")
    tokenizer: Any = load_tokenizer(folder.file(TOKENIZER)) if TOKENIZER in folder.files else None
    return Start(folder.path, recipe_of(folder.path), tokenizer, read_object(folder.file(REPORT)), tuple(folder.files),
                 found)


def resolved(recipe: str | Path | Recipe, overrides: Sequence[str], run: str | Path | None
             ) -> tuple[Recipe, Start | None]:
    """The recipe of a training and the run that it starts from: `run`, the recipe's own, or the run that it names.

    What a recipe leaves out of the model, the tokenizer, the task and the text is as in the run.
    """
    if run is None and not isinstance(recipe, Recipe) and _is_run(recipe):
        log.info(f"training starts from the run {recipe}; {Path(recipe) / RECIPE} would start over.")
        run = recipe
    first = recipe if isinstance(recipe, Recipe) else load_recipe(recipe, overrides)
    if (encoder := getattr(first.model, "from", None)) is not None:
        if run is not None:
            raise UsageError(f"--from = {run} and model.from = {encoder} are both given, expected one: a training goes "
                             "on from a run, or takes its encoder.")
        return with_encoder(first, str(encoder))
    if run is None and first.start_from is None:
        return first, None
    named = first.start_from if run is None else StartFrom(run=str(run))
    assert named is not None
    start = open_start(named.run, named.sha256)
    if start.recipe.family != first.family:
        raise UsageError(f"{start.path}: of the family {start.recipe.family}, expected {first.family}, the recipe's.")
    if not isinstance(recipe, Recipe):
        said = start.recipe.model_dump(mode="json")
        first = load_recipe(recipe, overrides, under={section: said[section] for section in KEPT})
    found = first.model_copy(update={"start_from": StartFrom(run=named.run, sha256=start.sha256)})
    over = "start over without the run" if isinstance(recipe, Recipe) or _is_run(recipe) else \
        f"give the run as recipe: chainrule train {start.path} --data …"
    _check(found, start, f"Leave it out, or {over}.")
    return found, start


def with_encoder(recipe: Recipe, run: str) -> tuple[Recipe, Start]:
    """The recipe with a run's encoder: its tokenizer and its stack; head, pooling and dropout stay the recipe's.

    The stack reads on as it did, from left to right or both ways. The context stays the recipe's, unless the run has a
    vector for each position.
    """
    known = recipe.start_from.sha256 if recipe.start_from is not None and recipe.start_from.run == run else None
    start = replace(open_start(run, known), part="encoder")
    family: Any = find("families", recipe.family)
    if start.recipe.family != recipe.family or start.tokenizer is None:
        raise OptionError("model.from", run, f"a run of the family {recipe.family} that reads text", f"It is of the "
                          f"family {start.recipe.family}.")
    own, its = recipe.model, start.recipe.model
    taken = {name: getattr(its, name) for name in family.encoder}
    if its.position["name"] == "learned":
        taken["context"] = its.context
    reads = build("tasks", start.recipe.task).causal if its.causal is None else its.causal
    update = {"model": own.model_copy(update={**taken, "causal": reads}), "tokenizer": start.recipe.tokenizer,
              "start_from": StartFrom(run=run, sha256=start.sha256, part="encoder")}
    return recipe.model_copy(update=update), start


def _is_run(recipe: str | Path) -> bool:
    return str(recipe) not in shipped() and (Path(recipe) / RECIPE).is_file()


def _check(recipe: Recipe, start: Start, hint: str) -> None:
    """Refuses what does not fit the run: another task or unit of text, another tokenizer, another model."""
    family: Any = find("families", recipe.family)
    mine, its = (dict(_flat(each.model_dump(mode="json"))) for each in (recipe, start.recipe))
    names = [name for name in dict.fromkeys([*mine, *its]) if name.partition(".")[0] in SAME]
    if recipe.task["name"] != start.recipe.task["name"] and family.encoder:
        hint = f"To begin with its encoder: model.from={start.path} instead of --from."
    for name in ["task.name", "text.unit", *names]:
        free = any(name == each or name.startswith(f"{each}.") for each in family.changeable)
        if mine.get(name) != its.get(name) and not free:
            raise OptionError(name, mine.get(name), f"{its.get(name)!r}, as in {start.path}, where training starts",
                              hint)
    family.check_start(recipe, start)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """`path, value` of every option; the value of a list is the whole list."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
