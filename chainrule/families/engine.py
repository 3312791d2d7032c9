"""The engine family: sentences of sublayers on the project's own automatic differentiation, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field

from chainrule.families._training import WEIGHTS, Lesson, StepwiseTraining, frozen, plan_of, trained
from chainrule.jobs import Job, Trained
from chainrule.protocols import LanguageModel, Tokenizer
from chainrule.recipe.error_paths import recipe_paths_in_errors
from chainrule.recipe.recipe import Recipe
from chainrule.recipe.registry import part
from chainrule.recipe.schema import PartOf


@part
class Engine:
    """Small neural language models on the project's own automatic differentiation, in NumPy alone."""

    class Options(BaseModel):
        """What a recipe's `model` section may say: an `EngineShape`."""

        model_config = frozen

        pattern: str = "(sf)*4"
        width: int = Field(default=128, ge=1)
        context: int = Field(default=64, ge=1)
        heads: int = Field(default=4, ge=1)
        bias: bool = False
        recurrence: Literal["elman", "ugrnn", "gru", "lstm"] = "lstm"
        gain: float = Field(default=1.0, gt=0)
        forget: float = 1.0
        window: int = Field(default=5, ge=1)
        feedforward: Literal["swiglu", "gelu", "gelu_tanh", "relu", "sigmoid", "silu", "tanh"] = "swiglu"
        norm: Literal["rms", "layer", "none"] = "rms"
        wiring: Literal["pre_norm", "residual", "plain"] = "pre_norm"
        position: Literal["rotary", "learned", "none"] = "rotary"
        head: Literal["tied", "untied"] = "tied"
        deviation: float = Field(default=0.1, gt=0)
        dropout: float = Field(default=0.0, ge=0, lt=1)

    class Training(StepwiseTraining):
        """What a recipe's `training` section may say: a `Plan`."""

        optimizer: Annotated[dict[str, Any], PartOf("engine/optimizers")] = {"name": "adamw"}
        batch: int = Field(default=16, ge=1)
        precision: Literal["float32", "float64"] = "float32"
        evaluate_tokens: int = Field(default=1 << 16, ge=1)

    @staticmethod
    def train(job: Job) -> Trained:
        from chainrule.models.engine_stack import exported
        from chainrule.storage.tensors import save_tensors

        def learn(given: Lesson) -> Any:
            from chainrule.tasks.engine_language import EngineLanguage
            from chainrule.training.engine_learner import EngineLearner
            from chainrule.training.loop import fit
            from chainrule.training.reading import language_task

            stack, plan = new_stack(job.recipe, given.vocabulary.size), plan_of(job.recipe)
            task = language_task(EngineLanguage, stack, plan, given.text, given.valid, given.vocabulary, given.telling)
            return stack, fit(EngineLearner(stack, task, plan, given.telling.say), given.workspace, given.telling)

        return trained(job, learn, language_model, lambda path, stack: save_tensors(path, exported(stack)))

    @staticmethod
    def load(folder: Path, recipe: Recipe, tokenizer: Tokenizer) -> LanguageModel[Any]:
        from chainrule.models.engine_stack import imported
        from chainrule.storage.tensors import open_tensors

        stack = new_stack(recipe, tokenizer.vocabulary_size)
        imported(stack, open_tensors(folder / WEIGHTS))
        return language_model(stack, tokenizer)

    @staticmethod
    def cost(recipe: Recipe, vocabulary_size: int, tokens: float | None = None, *, measure: bool = False
             ) -> dict[str, Any]:
        from chainrule.families._costs import engine_cost

        with recipe_paths_in_errors(recipe):
            return engine_cost(recipe, vocabulary_size, tokens, measure=measure)


def new_stack(recipe: Any, vocabulary_size: int) -> Any:
    """A stack with weights that depend on the seed alone."""
    from chainrule.families._room import check_count
    from chainrule.models.engine_stack import EngineShape, EngineStack
    from chainrule.models.pattern import sublayers

    width, layers = recipe.model.width, len(sublayers(recipe.model.pattern))
    check_count(width * (vocabulary_size + width * layers), "at least ")
    stack = EngineStack(EngineShape(**dict(recipe.model)), vocabulary_size, np.random.default_rng(recipe.seed))
    return stack.to(recipe.training.precision)


def language_model(stack: Any, tokenizer: Any) -> LanguageModel[Any]:
    """The stack as every family's model."""
    from chainrule.models.engine_language import EngineLanguageModel

    return EngineLanguageModel(stack, tokenizer.start)
