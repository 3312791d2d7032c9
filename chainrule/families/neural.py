"""The neural family: every sentence of sublayers, trained by one loop."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from chainrule.errors import UsageError
from chainrule.families._room import check_room
from chainrule.families._training import WEIGHTS, Lesson, StepwiseTraining, frozen, plan_of, trained
from chainrule.jobs import Job, Trained
from chainrule.protocols import LanguageModel, Tokenizer
from chainrule.recipe.error_paths import recipe_paths_in_errors
from chainrule.recipe.recipe import Recipe
from chainrule.recipe.registry import part
from chainrule.recipe.schema import PartOf

MIXERS, FEEDFORWARDS = "parts/mixers", "parts/feedforwards"
LETTERS = {"s": "attention", "r": "lstm", "c": "gated_convolution", "w": "window", "x": "cross_attention",
           "f": "swiglu"}
Mixer = Annotated[dict[str, Any] | None, PartOf(MIXERS, optional=True)]


@part
class Neural:
    """Neural language models: a sentence of sublayers such as (sf)*6, trained by gradient descent."""

    class Options(BaseModel):
        """What a recipe's `model` section may say: a `Shape`. Letters that the pattern lacks may be null."""

        model_config = frozen

        pattern: str = "(sf)*4"
        width: int = Field(default=128, ge=1)
        context: int = Field(default=128, ge=1)
        s: Mixer = None
        r: Mixer = None
        c: Mixer = None
        w: Mixer = None
        x: Mixer = None
        f: Annotated[dict[str, Any] | None, PartOf(FEEDFORWARDS, optional=True)] = None
        norm: Annotated[dict[str, Any], PartOf("parts/norms")] = {"name": "rms"}
        wiring: Annotated[dict[str, Any], PartOf("parts/wirings")] = {"name": "pre_norm"}
        position: Annotated[dict[str, Any], PartOf("parts/positions")] = {"name": "rotary"}
        embedding: Annotated[dict[str, Any], PartOf("parts/embeddings")] = {"name": "lookup"}
        head: Annotated[dict[str, Any], PartOf("parts/heads")] = {"name": "tied"}
        dropout: Annotated[dict[str, Any], PartOf("parts/dropouts")] = {"name": "independent"}

        @model_validator(mode="before")
        @classmethod
        def letters_have_parts(cls, given: Any) -> Any:
            """Each letter of the pattern gets its usual part where the recipe names none."""
            from chainrule.models.pattern import sublayers

            if not isinstance(given, dict) or not isinstance(given.get("pattern", ""), str):
                return given
            full = dict(given)
            for letter in set(sublayers(given.get("pattern", "(sf)*4"))):
                chosen = full.get(letter) or LETTERS[letter]
                full[letter] = {"name": LETTERS[letter], **chosen} if isinstance(chosen, dict) else chosen
            return full

    class Training(StepwiseTraining):
        """What a recipe's `training` section may say: a `Plan`, and where it is carried out."""

        optimizer: Annotated[dict[str, Any], PartOf("training/optimizers")] = {"name": "adamw"}
        precision: Literal["float32", "float64", "bfloat16", "float16"] = "float32"
        initial: Literal["torch", "engine"] = "torch"
        compile: Literal["auto", "on", "off"] = "auto"
        device: Literal["auto", "cpu", "cuda"] = "auto"

    @staticmethod
    def ready() -> None:
        """Before anything is read: says in one line what to install."""
        if find_spec("torch") is None:
            raise UsageError("neural recipes need torch, which is not installed. Try: pip install 'chainrule[neural]'")

    @staticmethod
    def train(job: Job) -> Trained:
        from chainrule.training import weights
        from chainrule.training.run import train_ids

        recipe: Any = job.recipe

        def learn(given: Lesson) -> Any:
            check_room(shape_of(recipe), given.vocabulary.size, recipe.training.device)
            return train_ids(shape_of(recipe), plan_of(recipe), given.text, given.valid, given.vocabulary,
                             given.workspace, device=recipe.training.device, telling=given.telling)

        return trained(job, learn, language_model, lambda path, stack: weights.save(path, weights.weights(stack)))

    @staticmethod
    def load(folder: Path, recipe: Recipe, tokenizer: Tokenizer) -> LanguageModel[Any]:
        Neural.ready()
        from chainrule.training import weights
        from chainrule.training.run import chosen_device, new_stack

        stack = new_stack(shape_of(recipe), tokenizer.vocabulary_size, recipe.seed).to(chosen_device("auto")).eval()
        if plan_of(recipe).precision == "float64":
            stack.double()
        weights.put(stack, weights.read(folder / WEIGHTS), folder / WEIGHTS)
        return language_model(stack, tokenizer)

    @staticmethod
    def load_to_write(folder: Path, recipe: Recipe, tokenizer: Tokenizer) -> LanguageModel[Any]:
        """The same model on the engine, without torch, where that writes faster: small ones on a CPU."""
        from chainrule.models.writing import engine_writer, gpu_in_sight
        from chainrule.storage.tensors import open_tensors

        options: Any = recipe.model
        if not gpu_in_sight():
            twin = engine_writer(options.model_dump(), open_tensors(folder / WEIGHTS), tokenizer.start)
            if twin is not None and twin.vocabulary_size == tokenizer.vocabulary_size:
                return twin
        return Neural.load(folder, recipe, tokenizer)

    @staticmethod
    def cost(recipe: Recipe, vocabulary_size: int, tokens: float | None = None, *, measure: bool = False
             ) -> dict[str, Any]:
        Neural.ready()
        from chainrule.families._costs import neural_cost

        with recipe_paths_in_errors(recipe):
            return neural_cost(recipe, vocabulary_size, tokens, measure=measure)


def shape_of(recipe: Any) -> Any:
    """The shape of the stack that a neural recipe describes; letters that the pattern lacks keep their usual part."""
    Neural.ready()
    from chainrule.models.stack import Shape

    options = recipe.model
    return Shape(**{name: value for name, value in options if value is not None})


def language_model(stack: Any, tokenizer: Any) -> LanguageModel[Any]:
    """The stack as every family's model."""
    from chainrule.models.language import NeuralLanguageModel

    return NeuralLanguageModel(stack, tokenizer.start)
