"""The model that writes: on a CPU the engine takes a few tokens through a small stack faster than torch does.

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
    """First weights that are overwritten at once need not be drawn."""

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None  # type: ignore[override]
                        ) -> np.ndarray:
        return np.zeros(size, dtype)


def engine_writer(shape: Shape, weights: Mapping[str, np.ndarray], start: int) -> EngineLanguageModel | None:
    """A neural model on the engine, from its shape and its weights by torch's names.

    None where that would not be faster, the engine has no such part, or these are other weights: let torch say so.
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
