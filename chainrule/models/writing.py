"""The fastest form of a model for generation: on a CPU the engine runs a small stack faster than torch does.

It also opens a run without torch, whose import takes longer than writing a hundred tokens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import UsageError
from chainrule.models.engine_language import EngineLanguageModel
from chainrule.models.engine_stack import EngineStack, imported
from chainrule.models.shape import Shape

MOST = 30_000_000  # weights: above that both wait for memory, and a copy takes its time
DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # of NVIDIA, of AMD, and of both inside Windows


class Unset(np.random.Generator):
    """Draws nothing: for initial weights that are overwritten at once."""

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None  # type: ignore[override]
                        ) -> np.ndarray:
        return np.zeros(size, dtype)


def engine_writer(shape: Shape, weights: Mapping[str, np.ndarray], start: int) -> EngineLanguageModel | None:
    """A neural model on the engine, from its shape and its weights by torch's names.

    None if that would not be faster, if the engine lacks a part, or if the weights do not fit (torch reports that).
    """
    embedding = weights.get("embedding.weight")
    if embedding is None or sum(each.size for each in weights.values()) > MOST:
        return None
    try:
        twin = EngineStack(shape, len(embedding), Unset(np.random.PCG64(0))).to(embedding.dtype)
        imported(twin, dict(weights))
    except UsageError:
        return None
    return EngineLanguageModel(twin, start)


def gpu_may_be_present() -> bool:
    """Whether there may be a GPU, without asking torch."""
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    return not hidden and any(Path(each).exists() for each in DRIVERS)
