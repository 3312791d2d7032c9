"""Parts and families in a folder outside the package, as plug-ins bring them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chainrule.recipe import plugins

UNIGRAMS = '''
"""A model that knows only how often each token occurs."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from chainrule.protocols import Family
from chainrule.recipe.choices import PartOf
from chainrule.recipe.registry import part
from chainrule.recipe.schema import Size
from chainrule.storage.tensors import open_tensors, save_tensors


class Table:
    """p(w), whatever came before."""

    def __init__(self, log_p: np.ndarray):
        self.log_p, self.vocabulary_size = log_p, len(log_p)

    def start(self, batch):
        return batch

    def log_probs(self, state):
        return np.tile(self.log_p, (state, 1))

    def advance(self, state, ids):
        return state

    def pick(self, state, rows):
        return len(rows)

    def score(self, ids):
        return self.log_p[ids]


@part
class Unigrams(Family):
    """Counts single tokens."""

    class Options(BaseModel):
        model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

        order: int = Field(default=3, ge=1, le=8)
        prune: tuple[int, ...] = ()
        memory: Size = 2**30
        rate: float = 1e-3
        limit: int | None = None
        vocabulary: Literal["open", "closed"] = "open"
        fallback: Annotated[dict[str, Any], PartOf("text/tokenizers")] = "bytes"

    @staticmethod
    def save(folder: Path, counts: np.ndarray) -> None:
        save_tensors(folder / "model.safetensors", {"log_p": np.log(counts / counts.sum())})

    @classmethod
    def load(cls, folder: Path, recipe, tokenizer) -> Table:
        return Table(open_tensors(folder / "model.safetensors")["log_p"])
'''

RUNNING_MEAN = '''
"""A running mean: the whole past, all of it alike."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note


@dataclass(frozen=True)
class Sum:
    total: Tensor  # (B, D)
    count: Tensor  # (B,)


@part
class RunningMean(nn.Module):
    """The whole past, all of it alike.

    y_t = W (x_1 + … + x_t) / t; a reader of both sides takes the mean of the row.
    """

    def __init__(self, place: Place, *, bias: bool = True):
        super().__init__()
        self.outward = Linear(place.width, place.width, bias=bias, depth=place.depth)

    def start(self, batch: int, room: int, like: Tensor) -> Sum:
        none = torch.zeros(batch, dtype=torch.long, device=like.device)
        return Sum(like.new_zeros(batch, self.outward.in_features), none)

    def forward(self, x: Tensor, state: Sum | None, reading: Reading) -> tuple[Tensor, Sum]:
        before = self.start(len(x), 0, x) if state is None else state
        count_BT = before.count[:, None] + torch.arange(1, 1 + x.shape[1], device=x.device)
        total_BTD = before.total[:, None] + x.cumsum(1)
        if not reading.causal:
            real = reading.real(x.shape[1])
            real = torch.ones_like(x[..., 0], dtype=torch.bool) if real is None else real
            total_BTD = (x * real[..., None]).sum(1, keepdim=True).expand_as(x)
            count_BT = real.sum(1, keepdim=True).clamp(min=1)
        mean = (total_BTD / count_BT[..., None]).to(x.dtype)
        note("mean", mean)
        return self.outward(mean), Sum(total_BTD[:, -1].to(x.dtype), before.count + x.shape[1])
'''
ONE_COUNT = (RUNNING_MEAN.replace("    count: Tensor  # (B,)\n", "    count: int\n")
             .replace("self.outward.in_features), none)", "self.outward.in_features), 0)")
             .replace("before.count[:, None] + torch.arange(1, 1 + x.shape[1], device=x.device)",
                      "before.count + torch.arange(1, 1 + x.shape[1], device=x.device)[None]"))
LOOKING_AHEAD = RUNNING_MEAN.replace("x.cumsum(1)", "x.flip(1).cumsum(1).flip(1)")


def written(root: Path, kind: str, name: str, source: str) -> Path:
    """The file of a part in a plug-in folder, which nobody knows of yet."""
    file = root / kind / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source.lstrip(), encoding="utf-8")
    return file


@contextmanager
def part(root: Path, kind: str, name: str, source: str) -> Iterator[Path]:
    """A plug-in folder with one part, known inside the block; its file."""
    file = written(root, kind, name, source)
    before = os.environ.get(plugins.VARIABLE)
    plugins.add_plugins(root)
    try:
        yield file
    finally:
        os.environ.pop(plugins.VARIABLE)
        if before is not None:
            os.environ[plugins.VARIABLE] = before
        for module in [each for each in sys.modules if each.startswith(plugins.SPACE)]:
            del sys.modules[module]


@contextmanager
def family(root: Path, name: str = "unigrams") -> Iterator[Path]:
    """The family above, known inside the block."""
    with part(root, "families", name, UNIGRAMS) as file:
        yield file
