"""Parts and families in a folder outside the package, as plug-ins bring them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chainrule.recipe import plugins

SOURCE = '''
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


@contextmanager
def part(root: Path, kind: str, name: str, source: str) -> Iterator[Path]:
    """A plug-in folder with one part, known inside the block; its file."""
    file = root / kind / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source.lstrip(), encoding="utf-8")
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
    with part(root, "families", name, SOURCE) as file:
        yield file
