"""The model that writes: on a CPU the engine takes a few tokens through a small stack faster than torch does."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.errors import OptionError
from chainrule.models.engine_counterpart import in_engine
from chainrule.models.engine_language import EngineLanguageModel
from chainrule.models.engine_stack import EngineStack, imported

if TYPE_CHECKING:
    from chainrule.models.stack import Stack

MOST = 30_000_000  # weights: above that both wait for memory, and a copy takes its time


class Unset(np.random.Generator):
    """First weights that are overwritten at once need not be drawn."""

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None  # type: ignore[override]
                        ) -> np.ndarray:
        return np.zeros(size, dtype)


def engine_writer(stack: Stack, start: int) -> EngineLanguageModel | None:
    """The same model on the engine; None where that would not be faster, or the engine has no such part."""
    weights = {name: parameter.detach() for name, parameter in stack.named_parameters()}
    if any(each.is_cuda for each in weights.values()) or sum(each.numel() for each in weights.values()) > MOST:
        return None
    try:
        shape, _ = in_engine(asdict(stack.shape))
    except OptionError:
        return None
    arrays = {name: each.numpy() for name, each in weights.items()}
    embedding = arrays["embedding.weight"]
    twin = EngineStack(shape, len(embedding), Unset(np.random.PCG64(0))).to(embedding.dtype)
    imported(twin, arrays)
    return EngineLanguageModel(twin, start)
