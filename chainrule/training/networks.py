"""A new network: its initial weights, its precision and its device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from chainrule.errors import OptionError
from chainrule.models.engine_stack import EngineStack, exported, training_differences
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.training import weights
from chainrule.training.plan import Plan


def new_network(shape: Shape, sizes: Sizes | int, plan: Plan) -> Stack:
    """A network whose initial weights depend only on the seed: drawn by its parts, or as by the engine."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(plan.seed)  # `torch.manual_seed` would seed every GPU too
        network = Stack(shape, sizes)
    if plan.initial == "engine":
        starts = [each for each in training_differences(shape) if "dropout" not in each]
        if starts:
            raise OptionError("training.initial", "engine", f"'torch' with {starts[0]}",
                              "The engine initializes differently.")
        drawn = EngineStack(shape, Sizes.of(sizes).vocabulary, np.random.default_rng(plan.seed))
        weights.put(network, exported(drawn), "the engine's weights")
    return network.double() if plan.precision == "float64" else network


def begin_parts(network: Stack, known: Any) -> None:
    """Parts that start from what the task knows, such as embeddings from word vectors, are filled before training."""
    for module in network.modules():
        begin = getattr(module, "begin", None)
        if begin is not None:
            begin(known)


def check_precision(network: Stack, plan: Plan) -> None:
    """The CPU's library has no recurrence in float16."""
    if plan.precision == "float16" and network.recurrent and network.device.type == "cpu":
        raise OptionError("training.precision", "float16", "'bfloat16' or 'float32' for recurrence on the CPU")


def chosen_device(name: str) -> torch.device:
    """auto: the GPU where there is one."""
    if name == "cuda" and not torch.cuda.is_available():
        raise OptionError("training.device", name, "'cpu' or 'auto'", "torch finds no GPU here.")
    return torch.device(("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name)
