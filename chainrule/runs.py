"""A trained model of any family is a folder: written atomically by `save_run`, opened by `load`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import ChainruleError, StorageError, UsageError
from chainrule.protocols import ABILITIES, WordVectors, called
from chainrule.recipe.recipe import RECIPE as RECIPE
from chainrule.recipe.recipe import Recipe, load_recipe, make_recipe
from chainrule.recipe.registry import build, find
from chainrule.storage import open_run, write_run
from chainrule.storage.json_files import read_object, read_rows
from chainrule.storage.json_text import json_text
from chainrule.storage.manifest import HINT
from chainrule.storage.tensors import open_tensors

if TYPE_CHECKING:
    from chainrule.text.options import TextOptions

TOKENIZER, REPORT, METRICS = "tokenizer.json", "report.json", "metrics.jsonl"
SIZES = ("order", "dimension", "parameters")  # those that a report may have
# what a family raises where tensors are missing, or have other names, shapes or types than its own
MISFITS = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, AssertionError, RecursionError)
ENVIRONMENT, CARD, COUNTS = "environment.json", "README.md", "counts.safetensors"


@dataclass(frozen=True, repr=False)
class LoadedRun:
    """A model and all that belongs to it."""

    path: Path
    recipe: Recipe
    tokenizer: Any  # a Tokenizer; None where neither inputs nor outputs are text
    model: Any  # a language model, or what else the family makes: see `protocols.ABILITIES`
    report: Mapping[str, Any]

    def __repr__(self) -> str:
        sizes = [f"{key} {self.report[key]:,}" for key in SIZES if isinstance(self.report.get(key), int)]
        facts = [f"family {self.recipe.family}", f"task {self.recipe.task['name']}", *sizes]
        if self.tokenizer is not None:
            facts.append(f"tokenizer {self.recipe.tokenizer['name']} ({self.tokenizer.vocabulary_size:,} tokens)")
        return f"LoadedRun({str(self.path)!r}: {', '.join(facts)})"

    def _repr_html_(self) -> str:
        """For notebooks: what it is, how it was measured, and its loss along training."""
        from chainrule.figures.cards import card, facts
        from chainrule.figures.losses import loss_curve

        measured = self.report.get("valid")
        shown = {"family": self.recipe.family, "task": self.recipe.task["name"],
                 **({} if self.tokenizer is None else {
                     "tokenizer": f"{self.recipe.tokenizer['name']}, {self.tokenizer.vocabulary_size:,} tokens"}),
                 **{key: self.report[key] for key in SIZES if isinstance(self.report.get(key), int)},
                 **{f"validation: {key.replace('_', ' ')}": value for key, value in
                    (measured if isinstance(measured, dict) else {}).items() if isinstance(value, int | float)}}
        metrics = self.path / METRICS
        figure = loss_curve(read_rows(metrics) if metrics.is_file() else [])
        return card(str(self.path), facts(shown), *([figure] if figure else []))

    def offering(self, ability: type, verb: str) -> Any:
        """The model, if it can do what a verb needs; if not, the error says what the run holds."""
        if isinstance(self.model, ability):
            return self.model
        raise UsageError(f"{self.path} holds {called(self.model)}; {verb} needs {ABILITIES[ability]}.")

    def text_options(self, overrides: Sequence[str] = ()) -> TextOptions:
        """How the run reads text, changed by `text.…=value`; other options cannot be changed after training."""
        for word in overrides:
            if not word.startswith("text."):
                raise UsageError(f"{word}: only text.… can be changed now, the model is trained; try "
                                 "text.errors=replace.")
        return make_recipe(self.recipe.model_dump(mode="json"), overrides).text if overrides else self.recipe.text

    def reading_text_as(self, overrides: Sequence[str]) -> LoadedRun:
        """The same run with other options for reading text."""
        if not overrides:
            return self
        return replace(self, recipe=self.recipe.model_copy(update={"text": self.text_options(overrides)}))

    @property
    def vectors(self) -> WordVectors:
        """The word vectors of a run that holds them."""
        return self.offering(WordVectors, "this")


def load(run: str | Path, *, to_write: bool = False) -> LoadedRun:
    """Opens a run folder; a damaged or half-written one is refused, and the file named.

    `to_write` is for `generate` only: some models have a form that loads and generates faster.
    """
    from chainrule.text.tokenizer import load_tokenizer

    folder = open_run(run)
    if COUNTS in folder.files:
        raise StorageError(f"{run}: holds counts, not a model. Make one with chainrule merge {run} --out RUN.")
    recipe = recipe_of(folder.path)
    tokenizer: Any = None if recipe.tokenizer is None else load_tokenizer(folder.file(TOKENIZER))
    report = read_object(folder.file(REPORT))
    family: Any = find("families", recipe.family)
    try:
        model = (family.load_to_write if to_write else family.load)(folder.path, recipe, tokenizer)
    except MISFITS as error:
        said = " ".join(f"{type(error).__name__} {error}".split())
        raise StorageError(f"{run}: its files do not make a model of the family {recipe.family} ({said}). {HINT}"
                           ) from error
    any_file = recipe.text.model_copy(update={"format": "auto"})  # it was said of the files that were trained on
    return LoadedRun(folder.path, recipe.model_copy(update={"text": any_file}), tokenizer, model, report)


def task_of(run: str | Path | LoadedRun) -> Any:
    """The task of a run."""
    recipe = run.recipe if isinstance(run, LoadedRun) else recipe_of(Path(run))
    return build("tasks", recipe.task)


def recipe_of(run: Path) -> Recipe:
    """The recipe of a run folder."""
    try:
        return load_recipe(run / RECIPE)
    except UsageError as error:  # it was valid when the run was trained
        raise UsageError(f"{run}: {error} Was it trained with a plug-in? Then add --plugins FOLDER.") from None


def opened(run: str | Path | LoadedRun, *, to_write: bool = False) -> LoadedRun:
    """The run, loaded unless it is already."""
    return run if isinstance(run, LoadedRun) else load(run, to_write=to_write)


def _check_finite(folder: Path, path: str | Path) -> None:
    """Refuses weights that training or an import has made NaN or infinite; −∞ is the logarithm of 0."""
    for file in sorted(folder.glob("*.safetensors")):
        for name, array in open_tensors(file).items():
            if array.size and array.dtype.kind == "f" and not array.max() < float("inf"):  # NaN is not below it
                raise ChainruleError(f"{path}: the array {name!r} has numbers that are not finite, so nothing was "
                                     "saved. Training diverged, or what was imported is damaged; try a lower "
                                     "learning rate.")


def save_run(path: str | Path, write_model: Callable[[Path], None], *, recipe: Recipe, tokenizer: Any,
             report: Mapping[str, Any], metrics: Iterable[Mapping[str, Any]] = (), replace: bool = False) -> Path:
    """Writes a run folder; `write_model(folder)` adds the model's own files, model.safetensors first of all."""
    from chainrule.storage.card import model_card
    from chainrule.storage.environment import environment

    task = build("tasks", recipe.task)

    def fill(folder: Path) -> None:
        write_model(folder)
        _check_finite(folder, path)
        if tokenizer is not None:
            tokenizer.save(folder / TOKENIZER)
        text = recipe.to_yaml()
        (folder / RECIPE).write_text(text, encoding="utf-8")
        (folder / REPORT).write_text(json_text(report, indent=1) + "\n", encoding="utf-8")
        (folder / ENVIRONMENT).write_text(json_text(environment(), indent=1) + "\n", encoding="utf-8")
        (folder / METRICS).write_text("".join(json_text(row) + "\n" for row in metrics), encoding="utf-8")
        (folder / CARD).write_text(model_card(recipe.model_dump(), report, text, task), encoding="utf-8")

    return write_run(path, fill, replace=replace)
