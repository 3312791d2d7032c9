"""Feedforwards on the engine: called like mixers, without state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from chainrule.engine import Tensor
from chainrule.engine.modules.mlp import MLP
from chainrule.engine.modules.swiglu import SwiGLU
from chainrule.models.engine_parts.twin import stands_for
from chainrule.parts.place import Place
from chainrule.recipe.registry import names

Options = Mapping[str, Any]


def _activations(options: Options, place: Place) -> tuple[str, ...]:
    """Those of the engine that a plain feedforward can have."""
    known = {"relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"}
    return tuple(name for name in names("engine/modules") if name in known)


@stands_for("parts/feedforwards/mlp", takes=("hidden", "bias"), only={"activation": _activations})
class Plain(MLP):
    """Two linear maps with an activation between them."""

    def __init__(self, place: Place, options: Options, random: np.random.Generator):
        super().__init__(place.width, place.depth, hidden=options["hidden"], activation=options["activation"],
                         bias=options["bias"], random=random)

    def forward(self, x: Tensor, state: Any = None) -> Any:
        return super().forward(x), None


@stands_for("parts/feedforwards/swiglu", takes=("hidden", "bias"))
class Gated(SwiGLU):
    """A feedforward with a SiLU gate."""

    def __init__(self, place: Place, options: Options, random: np.random.Generator):
        super().__init__(place.width, place.depth, hidden=options["hidden"], bias=options["bias"], random=random)

    def forward(self, x: Tensor, state: Any = None) -> Any:
        return super().forward(x), None
