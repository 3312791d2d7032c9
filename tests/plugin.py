"""A family of models in a folder of its own, as a plug-in brings it: added to `chainrule.families.__path__`."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = '''
"""A model that knows only how often each token occurs."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from chainrule.recipe.recipe import PartOf, Size
from chainrule.recipe.registry import part
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
class Unigrams:
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

    @staticmethod
    def load(folder: Path, recipe, tokenizer) -> Table:
        return Table(open_tensors(folder / "model.safetensors")["log_p"])
'''


@contextmanager
def family(folder: Path, name: str = "unigrams") -> Iterator[None]:
    """Makes the family known inside the block."""
    (folder / f"{name}.py").write_text(SOURCE.lstrip(), encoding="utf-8")
    package = importlib.import_module("chainrule.families")
    package.__path__.append(str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        package.__path__.remove(str(folder))
        sys.modules.pop(f"chainrule.families.{name}", None)
        vars(package).pop(name, None)
