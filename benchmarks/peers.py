"""Models of one shape, ours and our peers', and a fair way to time them: in turns, the best of several rounds."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.tasks._text import Text, TextRead
from chainrule.tasks.language import Language
from chainrule.training.callbacks import Callbacks
from chainrule.training.plan import Plan
from chainrule.training.torch_learner import TorchLearner


@dataclass(frozen=True)
class Size:
    """A GPT-2 of any size."""

    layers: int
    width: int
    heads: int
    context: int
    batch: int
    vocabulary_size: int = 65

    def __str__(self) -> str:
        return f"{self.layers} layers, {self.width} wide, {self.heads} heads, block {self.context}, batch {self.batch}"


SMALL = Size(4, 128, 4, 64, 12)  # nanoGPT's configuration for a laptop
CHARACTERS = Size(6, 384, 6, 256, 8)  # the usual one for tiny Shakespeare, with a batch that two cores can bear
GPT2 = Size(12, 768, 12, 1024, 64, 50_304)


def ours(size: Size) -> Stack:
    """GPT-2 as a sentence of sublayers: what the recipe `gpt` trains."""
    parts = {"s": {"name": "attention", "heads": size.heads, "bias": True},
             "f": {"name": "mlp", "activation": "gelu_tanh"}}
    return Stack(Shape(pattern=f"(sf)*{size.layers}", width=size.width, context=size.context, norm="layer",
                       parts=parts, position="learned"), size.vocabulary_size)


def trainer(stack: Stack, plan: Plan, ids: np.ndarray) -> TorchLearner:
    """The learner of `chainrule train`, for a language model on these ids."""
    task = Language()
    data = task.training_data(TextRead(Text(ids), None, start=0, end=1), stack, plan, print)
    return TorchLearner(stack, task, data, plan, Callbacks())


def transformers_gpt2(size: Size) -> nn.Module:
    """GPT2LMHeadModel without dropout."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(
        vocab_size=size.vocabulary_size, n_positions=size.context, n_embd=size.width, n_layer=size.layers,
        n_head=size.heads, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=None))


def parameters(model: nn.Module) -> int:
    return sum(each.numel() for each in model.parameters())


@dataclass(frozen=True)
class Taken:
    """Seconds: on the wall, and of all threads together."""

    wall: float
    cpu: float


def best_seconds(works: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, Taken]:
    """The least seconds of each work; they take turns, so that a busy moment of the machine hits all alike."""
    for work in works.values():
        work()
    best = dict.fromkeys(works, Taken(math.inf, math.inf))
    for _ in range(rounds):
        for name, work in works.items():
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            best[name] = Taken(min(best[name].wall, wall), min(best[name].cpu, cpu))
    return best


def ratios(mine: Taken, other: Taken) -> dict[str, float]:
    """How many times as fast as the other."""
    return {"ratio": round(other.wall / mine.wall, 2), "ratio_cpu": round(other.cpu / mine.cpu, 2)}


def record(out: Path | None, **found: Any) -> None:
    """One JSON line, printed and appended to a file."""
    line = json.dumps({"torch": torch.__version__, **found}, default=asdict)
    print(line, flush=True)
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
