"""What families that train in steps share: the `model` and `training` sections of a recipe, and saving a run."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_serializer, model_validator

from chainrule.errors import OptionError, StorageError, UsageError
from chainrule.jobs import Job, Trained
from chainrule.models.pattern import MOST, slots, with_depth
from chainrule.models.shape import LONGEST, SUBLAYERS, USUAL, Shape, expanded
from chainrule.recipe.choices import PartOf
from chainrule.recipe.problems import Problem, Problems
from chainrule.recipe.schema import OneOf, section_of
from chainrule.training.callbacks import Callbacks
from chainrule.training.group import Group
from chainrule.training.plan import Budget, Plan
from chainrule.training.workspace import LOGS, TIMINGS, Workspace

if TYPE_CHECKING:
    from chainrule.training.loop import Fitted

WEIGHTS = "model.safetensors"
log = logging.getLogger("chainrule")


def _listed(given: Any) -> Any:
    """One logger may stand without brackets."""
    return (given,) if isinstance(given, str | dict) else tuple(given) if isinstance(given, list) else given


Loggers = Annotated[tuple[Annotated[dict[str, Any], PartOf("training/loggers")], ...],
                    BeforeValidator(_listed)]
SHAPE = {each.name for each in fields(Shape)}
Sublayer = Annotated[dict[str, Any] | None, PartOf(SUBLAYERS, optional=True)]


class SentenceOptions(BaseModel):
    """A sentence of sublayers and what is around it. Letters that the pattern lacks may be null."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    pattern: str = "(sf)*4"
    depth: int | None = Field(default=None, ge=1, le=MOST)  # how often the pattern's largest group stands in it
    width: int = Field(default=128, ge=1)
    context: int = Field(default=128, ge=1, le=LONGEST)
    s: Sublayer = None
    r: Sublayer = None
    c: Sublayer = None
    w: Sublayer = None
    x: Sublayer = None
    f: Sublayer = None
    parts: dict[str, Annotated[dict[str, Any], PartOf(SUBLAYERS)]] = {}
    norm: Annotated[dict[str, Any], PartOf("parts/norms")] = {"name": "rms"}
    wiring: Annotated[dict[str, Any], PartOf("parts/wirings")] = {"name": "pre_norm"}
    position: Annotated[dict[str, Any], PartOf("parts/positions")] = {"name": "rotary"}
    embedding: Annotated[dict[str, Any], PartOf("parts/embeddings")] = {"name": "lookup"}
    dropout: Annotated[dict[str, Any], PartOf("parts/dropouts")] = {"name": "independent"}

    @model_validator(mode="before")
    @classmethod
    def letters_have_parts(cls, given: Any) -> Any:
        """Each letter of the pattern gets its usual part where the recipe names none."""
        if not isinstance(given, dict) or not isinstance(given.get("pattern", ""), str):
            return given
        given = with_own_depth(given)
        full, named = dict(given), given.get("parts") or {}
        letters = dict.fromkeys(slot.letter for slot in slots(given.get("pattern", "(sf)*4")))
        problems = []
        for letter in letters:
            chosen = (named.get(letter) if isinstance(named, dict) else None) or full.get(letter) or USUAL.get(letter)
            if chosen is None:
                problems.append(Problem(("pattern",), f"{{}} = {given['pattern']!r}, expected a part for each letter; "
                                        f"{letter!r} has none. Say which: model.parts.{letter}=attention."))
            elif letter in USUAL and letter not in named:
                full[letter] = {"name": USUAL[letter], **chosen} if isinstance(chosen, dict) else chosen
        for letter in USUAL:
            full |= {letter: _expanded(full[letter])} if full.get(letter) is not None else {}
        if isinstance(named, dict):
            full["parts"] = {letter: _expanded(choice) for letter, choice in named.items()}
            said = f"{{}} names a letter that model.pattern = {given.get('pattern')!r} does not have."
            problems += [Problem(("parts", letter), said) for letter in named if letter not in letters]
        if problems:
            raise Problems(problems)
        return full


    @model_serializer(mode="wrap")
    def said(self, dump: Any) -> dict[str, Any]:
        """Most models have neither pooling nor source, nor an encoder from elsewhere; the pattern has the depth."""
        found = dump(self)
        return {name: value for name, value in found.items() if value is not None or name not in RARE}


RARE = ("depth", "pooling", "source", "causal", "from")
ALIKE = ("width", "context", "norm", "wiring", "position", "embedding", "dropout")


class SourceOptions(SentenceOptions):
    """The stack whose vectors cross-attention looks at."""

    causal: bool = False  # whether it reads from left to right only
    shared_embedding: bool = False  # of source and target, which then have one vocabulary


class _StackOptions(SentenceOptions):
    """What a recipe's `model` section may say: a `Shape`, and where its first weights come from."""

    causal: bool | None = None  # null: as the task has it
    head: Annotated[dict[str, Any], PartOf("parts/heads")] = {"name": "tied"}
    pooling: Annotated[dict[str, Any] | None, PartOf("parts/poolings", optional=True)] = None
    source: SourceOptions | None = None

    @model_validator(mode="before")
    @classmethod
    def source_is_alike(cls, given: Any) -> Any:
        """What a source does not say is as in the stack that looks at it; letters, where its pattern has them."""
        if not isinstance(given, dict) or not isinstance(source := given.get("source"), dict):
            return given
        pattern = source.get("pattern", given.get("pattern"))
        letters = {slot.letter for slot in slots(pattern)} if isinstance(pattern, str) else set()
        alike = {name: given[name] for name in (*ALIKE, *(letters & set(USUAL))) if name in given}
        return {**given, "source": {**alike, **source}}

# `from` is a word of Python, so the field cannot be written as the others: a run whose encoder is taken over
StackOptions: Any = create_model("StackOptions", __base__=_StackOptions, __doc__=_StackOptions.__doc__,
                                 **{"from": (str | None, None)})  # type: ignore[call-overload]


def with_own_depth(given: dict[str, Any]) -> dict[str, Any]:
    """The pattern repeated as often as `depth` says; a depth that is none is refused later, with its place."""
    depth = given.get("depth")
    if not isinstance(depth, int) or isinstance(depth, bool) or not 1 <= depth <= MOST:
        return given
    rest = {name: value for name, value in given.items() if name != "depth"}
    return rest | {"pattern": with_depth(given.get("pattern", "(sf)*4"), depth)}


def _expanded(choice: Any) -> Any:
    """The short form of an attention part in full; a value of another type is refused later, with its place."""
    return expanded(choice) if isinstance(choice, str | dict) else choice


def shape_of(recipe: Any, *, causal: bool = True) -> Shape:
    """The shape of the stack that a recipe describes; letters that the pattern lacks keep their usual part."""
    source, reads = getattr(recipe.model, "source", None), getattr(recipe.model, "causal", None)
    return replace(_shape(recipe.model, ("source", "causal")), causal=causal if reads is None else reads,
                   source=None if source is None else _shape(source))


def _shape(options: Any, without: tuple[str, ...] = ()) -> Shape:
    given = {name: value for name, value in options
             if value is not None and name in SHAPE and name not in (*without, "parts")}
    letters = {letter: getattr(options, letter) for letter in USUAL if getattr(options, letter)}
    return Shape(parts=letters | dict(options.parts), **given)


BudgetSection = section_of(Budget, "exactly one of steps, epochs, tokens, flops and seconds, more than 0")
StepwiseTraining = section_of(Plan, without=("seed", "initial", "compile", "precision", "unfreeze",
                                             "layer_decay"),
                              replaced={"budget": (Annotated[BudgetSection, OneOf()], BudgetSection(epochs=1)),
                                        "schedule": (Annotated[dict[str, Any], PartOf("training/schedules")],
                                                     {"name": "cosine"}),
                                        "loggers": (Loggers, ())})


def plan_of(recipe: Any) -> Plan:
    """The training plan of a recipe; the device is not part of the plan."""
    given = {name: value for name, value in recipe.training if name not in ("budget", "device")}
    return Plan(budget=Budget(**dict(recipe.training.budget)), seed=recipe.seed, **given)


ENCODER = ("pattern", "width", *USUAL, "parts", "norm", "wiring", "position", "embedding")
CHANGEABLE = ("model.context", "model.dropout")  # they change no weight: other positions, if learned, are refused later


def start_weights(job: Job, put: Callable[[Path], None]) -> bool:
    """Gives a network the weights of the run that training starts from, if there is one; whether there is.

    `put(path)` reads the weights of a file. The optimizer begins anew: a run keeps no state of it.
    """
    if job.start is None:
        return False
    if job.start.part == "encoder":
        put(job.start.path / WEIGHTS)
        log.info(f"the encoder begins with the weights of {job.start.path}.")
        return False
    try:
        put(job.start.path / WEIGHTS)
    except (StorageError, UsageError) as error:
        recipe, its = job.recipe.model, job.start.recipe.model
        if recipe.context == its.context:
            raise
        raise OptionError("model.context", recipe.context, f"{its.context} as in {job.start.path}, where training "
                          "starts", f"Its weights fit no other ({error})") from None
    log.info(f"started from the weights of {job.start.path}; optimizer and schedule begin anew.")
    return True


def callbacks_of(job: Job, group: Group | None = None) -> Callbacks:
    """Of several processes that train together, only the first prints messages."""
    return Callbacks(log.info, job.show) if group is None or group.leads else Callbacks(lambda _: None)


def workspace_of(job: Job, known: Any) -> Workspace:
    """The folder of the unfinished training; its identity is everything that must not change when it is resumed."""
    assert job.corpus is not None
    identity = {**job.recipe.model_dump(mode="json"), "data": job.corpus.fingerprint()[:16],
                "valid data": job.valid and job.valid.fingerprint()[:16], "tokenizer.json": known.digest()[:16]}
    if job.out is None:
        path = Path(tempfile.mkdtemp(prefix=f".{job.recipe.family}.training-", dir=job.folder))
    else:
        path = job.out.absolute().with_name(f".{job.out.absolute().name}.training")
    return Workspace(path, identity, force=job.force, say=log.info)


@dataclass(frozen=True)
class Finished:
    """What a finished training knows about its data, how many tokens an epoch had, and what the loss is a mean over."""

    known: Any
    tokens: int
    loss_per: str = "token"


def trained(job: Job, model: Any, read: Any, fitted: Fitted, workspace: Workspace, save: Callable[[Path], None]
            ) -> Trained:
    """A finished training as a run: `save` writes the weights; metrics and report are added."""
    job.seconds["training"] = fitted.seconds  # of all sessions, without the preparation before the first step

    def write(folder: Path) -> None:
        save(folder / WEIGHTS)
        read.known.save(folder)
        shutil.copyfile(workspace.path / TIMINGS, folder / TIMINGS)
        if (workspace.path / LOGS).is_dir():
            shutil.copytree(workspace.path / LOGS, folder / LOGS)

    return Trained(read.known.tokenizer, model, write, _report(fitted, read), fitted.metrics,
                   saved=lambda: shutil.rmtree(workspace.path))


def _report(fitted: Fitted, read: Any) -> dict[str, Any]:
    state, per = fitted.state, getattr(read, "loss_per", "token")
    found = {**({} if read.known.tokenizer is None else {"vocabulary": read.known.tokenizer.vocabulary_size}),
             "parameters": fitted.parameters, "steps": state.step,
             "epochs": round(state.tokens / read.tokens, 3), "tokens": state.tokens, "flops": fitted.flops,
             "skipped_steps": state.skipped, "training": fitted.training, "kept": fitted.kept,
             "tokens_per_second": round(fitted.tokens_per_second), "peak_memory": fitted.peak_memory,
             "advice": fitted.advice, **({} if per == "token" else {"loss_per": per})}
    for name, row in (("best", state.best), ("last", state.last)):
        if "loss" in row:
            found[name] = {key: value for key, value in row.items() if key not in ("number", "rank")}
    return found


def check_finite(weights: Mapping[str, Any]) -> None:
    """Refuses to save a network that is broken."""
    for name, array in weights.items():
        if not np.isfinite(array).all():
            raise UsageError(f"the weights {name!r} are not finite numbers, expected a model that can be used. "
                             "Nothing was saved.")


def refuse_training(shape: Shape, differences: dict[str, Any]) -> None:
    """Refuses options that the engine can use but cannot train with."""
    for where, value in differences.items():
        slot, option = where.removeprefix("model.").rsplit(".", 1)
        given = shape.part(slot) if len(slot) == 1 else getattr(shape, slot)
        got = given if isinstance(given, str) else given[option]
        raise OptionError(where, got, repr(value), "The engine has no other.")
