"""From arrays of ids to a trained stack: what recipes, benchmarks and experiments call."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch

from chainrule.errors import OptionError
from chainrule.models.engine_counterpart import first_weights
from chainrule.models.stack import Shape, Stack
from chainrule.tasks.language import Text, Vocabulary
from chainrule.tasks.torch_language import TorchLanguage
from chainrule.training import reading, weights
from chainrule.training.loop import Fitted, fit
from chainrule.training.plan import Plan
from chainrule.training.telling import Telling
from chainrule.training.torch_learner import TorchLearner


def train_ids(shape: Shape, plan: Plan, text: Text | np.ndarray, valid: Text | np.ndarray | None,
              vocabulary: Vocabulary, workspace: Path, *, device: str = "auto", telling: Telling | None = None
              ) -> tuple[Stack, Fitted]:
    """Builds a stack and trains it as a language model on ids; `telling` says who listens."""
    telling = telling or Telling()
    text = Text(text) if isinstance(text, np.ndarray) else text
    valid = Text(valid) if isinstance(valid, np.ndarray) else valid
    stack = new_stack(shape, vocabulary.size, plan.seed, plan.initial).to(chosen_device(device))
    if plan.precision == "float64":
        stack.double()
    check_precision(stack, plan)
    task = language_task(stack, plan, text, valid, vocabulary, telling)
    identity = telling.identity
    if identity is None:
        identity = {"shape": asdict(shape), "training": asdict(plan), "text": digest(text), "valid": digest(valid)}
    learner = TorchLearner(stack, task, plan, telling.say)
    return stack, fit(learner, workspace, replace(telling, identity=identity))


def new_stack(shape: Shape, vocabulary_size: int, seed: int, initial: str = "torch") -> Stack:
    """A stack with weights that depend on the seed alone: as its parts draw them, or as the engine would."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # `torch.manual_seed` would seed every GPU too
        stack = Stack(shape, vocabulary_size)
    if initial == "engine":
        drawn = first_weights(asdict(shape), vocabulary_size, seed)
        weights.put(stack, {name: torch.from_numpy(array) for name, array in drawn.items()}, "the engine's weights")
    return stack


def language_task(stack: Stack, plan: Plan, text: Text, valid: Text | None, vocabulary: Vocabulary,
                  telling: Telling) -> TorchLanguage:
    """What the stack learns, and how the text is read for it."""
    return reading.language_task(TorchLanguage, stack, plan, text, valid, vocabulary, telling)


def check_precision(stack: Stack, plan: Plan) -> None:
    """The CPU's library has no recurrence in float16."""
    if plan.precision == "float16" and "r" in stack.letters and stack.embedding.weight.device.type == "cpu":
        raise OptionError("training.precision", "float16", "'bfloat16' or 'float32' for recurrence on the CPU")


def chosen_device(wish: str) -> torch.device:
    """auto: the GPU where there is one."""
    if wish == "cuda" and not torch.cuda.is_available():
        raise OptionError("training.device", wish, "'cpu' or 'auto'", "torch finds no GPU here.")
    return torch.device(("cuda" if torch.cuda.is_available() else "cpu") if wish == "auto" else wish)


def digest(text: Text | None) -> str | None:
    """SHA-256 of the ids."""
    return None if text is None else hashlib.sha256(np.ascontiguousarray(text.ids).view(np.uint8).data).hexdigest()
