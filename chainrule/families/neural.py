"""The neural family: any pattern of sublayers, trained by one loop for any task."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from chainrule.errors import UsageError
from chainrule.families._memory_check import check_memory
from chainrule.families._stepwise import (
    CHANGEABLE,
    ENCODER,
    WEIGHTS,
    Finished,
    StackOptions,
    StepwiseTraining,
    callbacks_of,
    check_finite,
    plan_of,
    shape_of,
    start_weights,
    trained,
    workspace_of,
)
from chainrule.jobs import Job, Trained
from chainrule.protocols import LEARNED, Family, Tokenizer
from chainrule.recipe.choices import PartOf
from chainrule.recipe.error_paths import recipe_paths_in_errors
from chainrule.recipe.registry import build, part
from chainrule.starting import Start


@part
class Neural(Family):
    """Networks of sublayers such as (sf)*6, trained by gradient descent."""

    Options = StackOptions
    tasks = ("language", LEARNED)
    tokenizer = "byte_pair"
    layered = True
    changeable = CHANGEABLE
    encoder = ENCODER

    class Training(StepwiseTraining):  # type: ignore[misc, valid-type]
        """What a recipe's `training` section may say: a `Plan`, and the device."""

        optimizer: Annotated[dict[str, Any], PartOf("training/optimizers")] = {"name": "adamw"}
        precision: Literal["float32", "float64", "bfloat16", "float16"] = "float32"
        initial: Literal["torch", "engine"] = "torch"
        unfreeze: Literal["all", "none", "gradual"] = "all"
        layer_decay: float = Field(default=1.0, gt=0, le=1)
        compile: Literal["auto", "on", "off"] = "auto"
        device: Literal["auto", "cpu", "cuda"] = "auto"

    @classmethod
    def ready(cls) -> None:
        if find_spec("torch") is None:
            raise UsageError("neural recipes need torch, which is not installed. Try: pip install 'chainrule[neural]'")

    @classmethod
    def check_start(cls, recipe: Any, start: Start) -> None:
        """Any run of the family, with its weights; the network reads the new text in the run's tokens."""

    @classmethod
    def train(cls, job: Job) -> Trained:
        from chainrule.storage.tensors import save_tensors
        from chainrule.training.checkpoints import gathered
        from chainrule.training.group import joined_group
        from chainrule.training.loop import fit
        from chainrule.training.networks import begin_parts, check_precision, chosen_device, new_network
        from chainrule.training.torch_learner import TorchLearner
        from chainrule.training.weights import weights

        recipe: Any = job.recipe
        task, plan, group = build("tasks", recipe.task), plan_of(recipe), joined_group()
        callbacks = callbacks_of(job, group)
        with job.timed("reading"):
            read = task.read(job)
        workspace = workspace_of(job, read.known)
        with job.timed("training"), recipe_paths_in_errors(recipe):
            shape, sizes = shape_of(recipe, causal=task.causal), read.known.sizes
            check_memory(shape, sizes, recipe.training.device)
            network = new_network(shape, sizes, plan)
            begin_parts(network, read.known)
            network = network.to(chosen_device(recipe.training.device))
            check_precision(network, plan)
            encoder = job.start is not None and job.start.part == "encoder"
            goes_on = start_weights(job, lambda path: (_read_encoder if encoder else _read_weights)(network, path))
            data = task.training_data(read, network, plan, callbacks.say)
            fitted = fit(TorchLearner(network, task, data, plan, callbacks, group), workspace, callbacks,
                         measure_first=goes_on)
            known = task.finished(network, read)
        found = trained(job, task.model(network, known), Finished(known, read.tokens, task.loss_per), fitted, workspace,
                        lambda path: save_tensors(path, gathered(weights(network))))
        return found.led_by(group.leads)

    @classmethod
    def load(cls, folder: Path, recipe: Any, tokenizer: Tokenizer) -> Any:
        cls.ready()
        from chainrule.training.networks import chosen_device

        task = build("tasks", recipe.task)
        known = task.load_known(folder, tokenizer)
        network = cls._begun(recipe, task, known).to(chosen_device("auto"))
        _read_weights(network, folder / WEIGHTS)
        return task.model(network.eval(), known)

    @classmethod
    def write(cls, folder: Path, run: Any) -> None:
        from chainrule.storage.tensors import save_tensors
        from chainrule.training.checkpoints import gathered
        from chainrule.training.weights import weights

        if not hasattr(run.model.stack, "state_dict"):
            raise UsageError(f"{run.path}: opened to write only, with a model of another kind. Load it without "
                             "to_write=True to save it.")
        found = gathered(weights(run.model.stack))
        check_finite(found)
        save_tensors(folder / WEIGHTS, found)
        if (known := getattr(run.model, "known", None)) is not None:  # labels and the like
            known.save(folder)

    @classmethod
    def begin(cls, recipe: Any, tokenizer: Tokenizer) -> Any:
        task = build("tasks", recipe.task)
        known = task.load_known(None, tokenizer)
        return task.model(cls._begun(recipe, task, known), known)

    @classmethod
    def _begun(cls, recipe: Any, task: Any, known: Any) -> Any:
        """A fresh network for a task."""
        cls.ready()
        from chainrule.training.networks import new_network

        with recipe_paths_in_errors(recipe):
            return new_network(shape_of(recipe, causal=task.causal), known.sizes, plan_of(recipe))

    @classmethod
    def load_to_write(cls, folder: Path, recipe: Any, tokenizer: Tokenizer) -> Any:
        """The same model on the engine, without torch, if that generates faster: small models on a CPU."""
        from chainrule.models.writing import engine_writer, gpu_may_be_present
        from chainrule.storage.tensors import open_tensors

        if recipe.task["name"] == "language" and not gpu_may_be_present():
            twin = engine_writer(shape_of(recipe), open_tensors(folder / WEIGHTS), tokenizer.start)
            if twin is not None and twin.vocabulary_size == tokenizer.vocabulary_size:
                return twin
        return cls.load(folder, recipe, tokenizer)

    @classmethod
    def cost(cls, recipe: Any, vocabulary_size: int, tokens: float | None = None, *, measure: bool = False
             ) -> dict[str, Any]:
        cls.ready()
        from chainrule.families._costs import neural_cost

        with recipe_paths_in_errors(recipe):
            return neural_cost(recipe, vocabulary_size, tokens, measure=measure)

    @classmethod
    def parameters(cls, recipe: Any, vocabulary_size: int) -> int:
        cls.ready()
        from chainrule.models.cost.counting import parameters

        with recipe_paths_in_errors(recipe):
            task = build("tasks", recipe.task)
            return parameters(shape_of(recipe, causal=task.causal), task.sizes(vocabulary_size))


def _read_encoder(network: Any, path: Path) -> None:
    """What the stack below the head has of a run's weights; a table of tokens without those that only the run had."""
    from chainrule.storage.tensors import open_tensors
    from chainrule.training.weights import put, weights

    own, its = {name: each.cpu().numpy() for name, each in weights(network).items()}, open_tensors(path)
    below = [name for name in own if name.split(".")[0] in ("embedding", "position", "sublayers", "norm")]
    taken = {name: its[name][:len(own[name])].copy() for name in below if name in its}
    put(network, {**own, **{name: taken.get(name, own[name]) for name in below}}, path)


def _read_weights(network: Any, path: Path) -> None:
    from chainrule.storage.tensors import open_tensors
    from chainrule.training.weights import put

    put(network, {name: array.copy() for name, array in open_tensors(path).items()}, path)
