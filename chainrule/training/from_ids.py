"""From arrays of ids to a trained network, without recipes: what benchmarks and experiments call."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.tasks._text import Text, TextRead
from chainrule.tasks.language import Language
from chainrule.training.callbacks import Callbacks
from chainrule.training.loop import Fitted, fit
from chainrule.training.networks import check_precision, chosen_device, new_network
from chainrule.training.plan import Plan
from chainrule.training.torch_learner import TorchLearner
from chainrule.training.workspace import Workspace


@dataclass(frozen=True)
class Vocabulary:
    """How many tokens there are, and the ids of <s> and </s>."""

    size: int
    start: int
    end: int


def train_ids(shape: Shape, plan: Plan, text: Text | np.ndarray, valid: Text | np.ndarray | None,
              vocabulary: Vocabulary, workspace: Path, *, device: str = "auto", callbacks: Callbacks | None = None
              ) -> tuple[Stack, Fitted]:
    """Builds a stack and trains it as a language model on ids."""
    callbacks = callbacks or Callbacks()
    train, held_out = (Text(each) if isinstance(each, np.ndarray) else each for each in (text, valid))
    assert train is not None
    read = TextRead(train, held_out, vocabulary.start, vocabulary.end)
    network = new_network(shape, vocabulary.size, plan).to(chosen_device(device))
    check_precision(network, plan)
    task = Language()
    data = task.training_data(read, network, plan, callbacks.say)
    identity = {"shape": asdict(shape), "training": asdict(plan), "text": digest(read.train),
                "valid": digest(read.valid)}
    learner = TorchLearner(network, task, data, plan, callbacks)
    return network, fit(learner, Workspace(workspace, identity, say=callbacks.say), callbacks)


def digest(text: Text | None) -> str | None:
    """SHA-256 of the ids."""
    return None if text is None else hashlib.sha256(np.ascontiguousarray(text.ids).view(np.uint8).data).hexdigest()
