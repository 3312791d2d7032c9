"""A recipe is everything needed to reproduce a model: a family, how text is read, and every option."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model, model_serializer

from chainrule.errors import UsageError, did_you_mean
from chainrule.protocols import LEARNED
from chainrule.recipe.choices import PartOf as PartOf
from chainrule.recipe.overrides import apply_overrides, parse_overrides
from chainrule.recipe.problems import Path as Place
from chainrule.recipe.problems import Problem, Problems
from chainrule.recipe.registry import called, find, has, names
from chainrule.recipe.schema import Size as Size
from chainrule.recipe.strict_yaml import dump_yaml, load_with_lines, load_yaml
from chainrule.recipe.validation import problems_of
from chainrule.text.options import TextOptions

SHIPPED = Path(__file__).parents[1] / "recipes"
RECIPE = "recipe.yaml"  # in a run folder


class SplitOptions(BaseModel):
    """How much of the text is held out for validation when no validation text is given, and which seed chooses it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    valid: float = Field(default=0.0, ge=0.0, lt=1.0)
    seed: int = Field(default=0, ge=0)


class StartFrom(BaseModel):
    """The finished run that a training starts from: its path as given, and the SHA-256 of its MANIFEST.json.

    `part` is all of the run, or its encoder, for another task.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    sha256: str | None = None
    part: Literal["all", "encoder"] = "all"

    @model_serializer(mode="wrap")
    def said(self, dump: Any) -> dict[str, Any]:
        """The part only where it is not all."""
        return {name: value for name, value in dump(self).items() if (name, value) != ("part", "all")}


class Recipe(BaseModel):
    """Resolved: every option has a value. `model` is checked by the family's own `Options`."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True,
                              ser_json_inf_nan="constants")  # a dump by `said` would have null for infinity

    family: str
    description: str = ""
    text: TextOptions = TextOptions()
    split: SplitOptions = SplitOptions()
    tokenizer: Annotated[dict[str, Any], PartOf("text/tokenizers")]
    task: Annotated[dict[str, Any], PartOf("tasks")] = {"name": "language"}
    model: Any = None
    seed: int = Field(default=0, ge=0)
    start_from: StartFrom | None = None  # set by --from

    @model_serializer(mode="wrap")
    def said(self, dump: Any) -> dict[str, Any]:
        """All options; `start_from` only where there is one."""
        found = dump(self)
        if self.start_from is None:
            found.pop("start_from", None)
        return found

    def to_yaml(self) -> str:
        """Text that `load_recipe` reads as an equal recipe."""
        return dump_yaml(self.model_dump(mode="json"))


def load_recipe(name_or_path: str | Path, overrides: Sequence[str] = (), *, under: Mapping[str, Any] | None = None
                ) -> Recipe:
    """A shipped recipe by its name, a YAML file or a run folder's, changed by `path=value`; raises all problems.

    What the recipe leaves out is as in `under`, if that is given.
    """
    path = recipe_path(name_or_path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text at byte {error.start}, expected a YAML recipe.") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}. Shipped recipes: {', '.join(shipped())}.") from None
    data, lines = load_with_lines(text, path.name)
    if not isinstance(data, dict):
        raise UsageError(f"{path.name}: expected a mapping with a family, such as 'family: ngram'.")
    return make_recipe(data if under is None else _over(under, data), overrides, source=path.name, lines=lines)


def make_recipe(data: Mapping[str, Any], overrides: Sequence[str] = (), *, source: str = "",
                lines: Mapping[Place, int] | None = None) -> Recipe:
    """A recipe from plain values; `source` and `lines` say where they stand, for the messages."""
    plain = dict(data)
    changes = parse_overrides(overrides)
    new_family = next((each.value for each in reversed(changes) if each.path == ("family",)), plain.get("family"))
    if new_family != plain.get("family"):
        plain.pop("model", None)  # the options of another family do not apply
        plain.pop("training", None)
    schema, problems = _schema_of(new_family)
    if not problems and isinstance(new_family, str):
        family: Any = find("families", new_family)
        plain = family.earlier(plain)
    if not (usual := schema.model_fields["tokenizer"]).is_required():
        plain.setdefault("tokenizer", usual.default and dict(usual.default))
    problems += apply_overrides(plain, schema, changes)
    if plain.get("description") == data.get("description") and (changed_words := _changes_of_model(overrides)):
        plain["description"] = f"{data.get('description', '')} Changed: {changed_words}.".strip()
    plain.setdefault("model", {})
    try:
        recipe = schema.model_validate_json(json.dumps(plain), strict=True)
    except ValidationError as error:
        problems += problems_of(error, schema, plain)
    if problems:
        changed = {each.path for each in changes}
        raise Problems(problems, [_line(problem, changed, source, lines or {}) for problem in problems])
    return recipe


def _over(under: Any, given: Any) -> Any:
    """What is given, and for what it leaves out what is under it; a part with another name has its own options."""
    if isinstance(under, Mapping) and isinstance(given, str) and given == under.get("name"):
        return under
    if not isinstance(under, Mapping) or not isinstance(given, Mapping):
        return given
    if given.get("name", under.get("name")) != under.get("name"):
        return given
    return {**under, **{key: _over(under.get(key), value) for key, value in given.items()}}


def _changes_of_model(overrides: Sequence[str]) -> str:
    """Overrides that make another model than the description says."""
    return ", ".join(word for word in overrides if word.split(".")[0].split("=")[0] in ("model", "tokenizer"))


def recipe_path(name_or_path: str | Path) -> Path:
    """Where a recipe's text is: a shipped recipe's name wins over a file or run of that name without a suffix."""
    text = str(name_or_path)
    if text in shipped():
        return SHIPPED / f"{text}.yaml"
    if (Path(text) / RECIPE).is_file():
        return Path(text) / RECIPE
    if Path(text).is_dir():
        raise UsageError(f"{text}: a folder without {RECIPE}, expected a run folder, a YAML file or a recipe's name.")
    if Path(text).suffix in (".yaml", ".yml") or Path(text).is_file():
        return Path(text)
    raise UsageError(f"no recipe named {text!r}.{did_you_mean(text, shipped())} A file's name ends in .yaml.")


def shipped() -> dict[str, Path]:
    """The recipes that come with the package: the file's name is the recipe's."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.yaml"))}


def described() -> dict[str, dict[str, str]]:
    """Family and description of each shipped recipe, without loading its family."""
    found = {}
    for name, path in shipped().items():
        data = load_yaml(path.read_text(encoding="utf-8"), path.name)
        found[name] = {"family": data["family"], "description": data.get("description", "")}
    return found


def _schema_of(family: Any) -> tuple[type[Recipe], list[Problem]]:
    if family is None or not isinstance(family, str):
        return Recipe, []  # the schema says what is missing
    if not has("families", family):
        return Recipe, [Problem(("family",), f"no {called('families')} named {family!r}."
                                             f"{did_you_mean(family, names('families'))}")]
    found: Any = find("families", family)
    return _schema(found), []


@cache
def _schema(family: Any) -> type[Recipe]:
    """Recipe with a family's own options; one class for each, so that equal recipes compare equal."""
    learned = LEARNED in family.tasks

    def known(task: dict[str, Any]) -> dict[str, Any]:
        if learned and not hasattr(find("tasks", task["name"]), "loss"):
            raise ValueError("expected a task that has a loss: networks learn by descending its gradient")
        if not learned and task["name"] not in family.tasks:
            raise ValueError(f"expected {' or '.join(family.tasks)} in this family")
        return task

    task = Annotated[dict[str, Any], PartOf("tasks"), AfterValidator(known)]
    without = family.tokenizer is None
    tokenizer = Annotated[dict[str, Any] | None, PartOf("text/tokenizers", optional=learned or without)]
    own: dict[str, Any] = {"tokenizer": (tokenizer, None if without else {"name": family.tokenizer}),
                           "task": (task, {"name": family.tasks[0]}), "model": (family.Options, ...)}
    if family.Training is not None:
        own["training"] = (family.Training, family.Training())
    return create_model("Recipe", __base__=Recipe, **own)


def _line(problem: Problem, changed: set[Place], source: str, lines: Mapping[Place, int]) -> str:
    """The problem, with file and line unless an override is to blame, which comes nearer to it than the file."""
    path = problem.path
    while path not in lines and path:
        path = path[:-1]
    nearer = problem.path[:len(path) + 1]
    overridden = any(each[:len(nearer)] == nearer or problem.path[:len(each)] == each for each in changed)
    return str(problem) if not source or overridden else f"{source}, line {lines.get(path, 1)}: {problem}"
