"""The engine family: patterns of sublayers on the project's own automatic differentiation, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from chainrule.errors import StorageError
from chainrule.families._stepwise import (
    CHANGEABLE,
    WEIGHTS,
    StackOptions,
    StepwiseTraining,
    callbacks_of,
    check_finite,
    plan_of,
    refuse_training,
    shape_of,
    start_weights,
    trained,
    workspace_of,
)
from chainrule.jobs import Job, Trained
from chainrule.models.shape import LONGEST
from chainrule.protocols import Family, Tokenizer
from chainrule.recipe.choices import PartOf
from chainrule.recipe.error_paths import recipe_paths_in_errors
from chainrule.recipe.registry import build, part
from chainrule.starting import Start

EARLIER = {"heads": ("s", "heads"), "bias": ("s", "bias"), "recurrence": ("r", "name"), "gain": ("r", "gain"),
           "forget": ("r", "forget"), "window": ("w", "size"), "deviation": ("embedding", "deviation"),
           "dropout": ("dropout", "rate")}  # options of version 0.1.0, and where they are now
KINDS = {"s": "attention", "w": "window", "embedding": "lookup", "dropout": "independent"}


@part
class Engine(Family):
    """Small neural language models on the project's own automatic differentiation, in NumPy alone."""

    tokenizer = "byte_pair"
    layered = True
    changeable = CHANGEABLE

    class Options(StackOptions):
        """What a recipe's `model` section may say: the parts of the family neural, as far as the engine has them."""

        context: int = Field(default=64, ge=1, le=LONGEST)
        embedding: Annotated[dict[str, Any], PartOf("parts/embeddings")] = {"name": "lookup", "deviation": 0.1}

        @model_validator(mode="before")
        @classmethod
        def earlier_names(cls, given: Any) -> Any:
            """Runs of version 0.1.0 had options of their own."""
            return of_earlier_version(given) if isinstance(given, dict) else given

    class Training(StepwiseTraining):  # type: ignore[misc, valid-type]
        """What a recipe's `training` section may say: a `Plan`."""

        optimizer: Annotated[dict[str, Any], PartOf("engine/optimizers")] = {"name": "adamw"}
        batch: int = Field(default=16, ge=1)
        precision: Literal["float32", "float64"] = "float32"
        evaluate_tokens: int = Field(default=1 << 16, ge=1)

    @classmethod
    def check_start(cls, recipe: Any, start: Start) -> None:
        """Any run of the family, with its weights; the network reads the new text in the run's tokens."""

    @classmethod
    def train(cls, job: Job) -> Trained:
        from chainrule.models.engine_stack import exported, training_differences
        from chainrule.storage.tensors import save_tensors
        from chainrule.training.engine_learner import EngineLearner
        from chainrule.training.loop import fit

        recipe: Any = job.recipe
        task, plan, callbacks = build("tasks", recipe.task), plan_of(recipe), callbacks_of(job)
        with job.timed("reading"):
            read = task.read(job)
        workspace = workspace_of(job, read.known)
        with job.timed("training"), recipe_paths_in_errors(recipe):
            network = new_network(recipe, read.known.sizes.vocabulary)
            refuse_training(network.shape, training_differences(network.shape))
            goes_on = start_weights(job, lambda path: _read_weights(network, path))
            data = task.training_data(read, network, plan, callbacks.say)
            fitted = fit(EngineLearner(network, task, data, plan, callbacks), workspace, callbacks,
                         measure_first=goes_on)
        return trained(job, task.model(network, read.known), read, fitted, workspace,
                       lambda path: save_tensors(path, exported(network)))

    @classmethod
    def load(cls, folder: Path, recipe: Any, tokenizer: Tokenizer) -> Any:
        network = new_network(recipe, tokenizer.vocabulary_size)
        _read_weights(network, folder / WEIGHTS)
        return _model(recipe, network, tokenizer)

    @classmethod
    def write(cls, folder: Path, run: Any) -> None:
        from chainrule.models.engine_stack import exported
        from chainrule.storage.tensors import save_tensors

        found = exported(run.model.stack)
        check_finite(found)
        save_tensors(folder / WEIGHTS, found)

    @classmethod
    def begin(cls, recipe: Any, tokenizer: Tokenizer) -> Any:
        with recipe_paths_in_errors(recipe):
            network = new_network(recipe, tokenizer.vocabulary_size)
        return _model(recipe, network, tokenizer)

    @classmethod
    def cost(cls, recipe: Any, vocabulary_size: int, tokens: float | None = None, *, measure: bool = False
             ) -> dict[str, Any]:
        from chainrule.families._costs import engine_cost

        with recipe_paths_in_errors(recipe):
            return engine_cost(recipe, vocabulary_size, tokens, measure=measure)

    @classmethod
    def parameters(cls, recipe: Any, vocabulary_size: int) -> int:
        with recipe_paths_in_errors(recipe):
            return sum(each.data.size for each in new_network(recipe, vocabulary_size).parameters())


def _read_weights(network: Any, path: Path) -> None:
    from chainrule.models.engine_stack import imported
    from chainrule.storage.tensors import open_tensors

    found = open_tensors(path)
    for name, array in found.items():
        if array.dtype.kind != "f":
            raise StorageError(f"{path}: {name!r} has numbers of the type {array.dtype}, expected floating-point ones; "
                               "the weights belong to another model.")
    imported(network, found)


def _model(recipe: Any, network: Any, tokenizer: Tokenizer) -> Any:
    task = build("tasks", recipe.task)
    return task.model(network, task.load_known(None, tokenizer))


def new_network(recipe: Any, vocabulary: int) -> Any:
    """A stack with weights that depend on the seed alone."""
    from chainrule.families._memory_check import check_count
    from chainrule.models.engine_stack import EngineStack

    shape = shape_of(recipe)
    check_count(shape.width * (vocabulary + shape.width * len(shape.slots)), "at least ")
    return EngineStack(shape, vocabulary, np.random.default_rng(recipe.seed)).to(recipe.training.precision)


def of_earlier_version(given: dict[str, Any]) -> dict[str, Any]:
    """The `model` section of version 0.1.0 in today's form: `heads: 4` is `s: {name: attention, heads: 4}`."""
    old = {key for key in given if key in EARLIER and not isinstance(given[key], dict)}
    if not old - {"dropout"} and not isinstance(given.get("dropout"), int | float) and "feedforward" not in given:
        return given
    full = {key: value for key, value in given.items() if key not in old and key != "feedforward"}
    for key in old:
        slot, option = EARLIER[key]
        part_ = full.setdefault(slot, {"name": KINDS.get(slot, given.get("recurrence", "lstm"))})
        part_[option] = given[key]
    kind = given.get("feedforward")
    if kind is not None:
        full["f"] = {"name": "swiglu"} if kind == "swiglu" else {"name": "mlp", "activation": kind}
    unused = {"elman": ("forget",), "gru": ("gain", "forget"), "lstm": ("gain",), "ugrnn": ("gain",)}
    for option in unused.get(full.get("r", {}).get("name", ""), ()):
        full["r"].pop(option, None)
    return full
