"""The similarity of positions: a model's own, and fixed forms for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.parts.place import Place
from chainrule.recipe.registry import build

FIXED = ("sinusoidal", "rotary", "alibi")  # what can be shown of a size without training
MOST = 128  # places


@dataclass(frozen=True)
class Places:
    """One form of positions: the (T, T) similarity of places, and what that number is."""

    name: str
    own: bool  # whether the model has it
    measure: str  # what is compared: `cosine`, `turned`, `factor`
    similarity: np.ndarray


MEASURES = {
    "cosine": "the cosine of what is added at two places",
    "turned": "q·k / E of two vectors of ones, turned to their places",
    "factor": "the factor exp(bias) on the weight of a key, the mean over the heads",
}


def of_stack(stack: Any) -> list[Places]:
    """The positions of a model, if it has any, and the fixed forms of its width, heads and context."""
    shape = stack.shape
    own = shape.position if isinstance(shape.position, str) else shape.position["name"]
    place = Place(shape.width, context=min(shape.context, MOST), heads=shape.heads)
    mine = _similarity(stack.position, place, next(stack.parameters()))
    if mine is None:
        return []
    return [Places(own, True, *mine), *(fixed(name, place) for name in FIXED if name != own)]


def of_engine_stack(stack: Any) -> list[Places]:
    """The positions of a model of the engine, if it has any; without torch, and so without others beside them."""
    from chainrule.engine.modules.rotary import angles, turned

    shape, length = stack.shape, min(stack.shape.context, MOST)
    if stack.position.bounded:
        added_TD = stack.position.weight.value[:length].astype(np.float64)
        unit_TD = added_TD / np.maximum(np.linalg.norm(added_TD, axis=-1, keepdims=True), 1e-30)
        return [Places("learned", True, "cosine", unit_TD @ unit_TD.T)]
    if stack.position.turns and any(hasattr(layer.body, "attend") for layer in stack.sublayers):
        width = shape.width // shape.heads
        turned_TE = turned(np.ones((length, width)), *angles(length, width, stack.position.base, 0, "f8"))
        return [Places("rotary", True, "turned", turned_TE @ turned_TE.T / width)]
    return []


def fixed(name: str, place: Place) -> Places:
    """A form with nothing learned, made for comparison."""
    import torch

    found = _similarity(build("parts/positions", name, place), place, torch.zeros(0))
    assert found is not None
    return Places(name, False, *found)


def _similarity(position: Any, place: Place, like: Any) -> tuple[str, np.ndarray] | None:
    """The similarity of places by the way in which the part encodes them; None if it encodes none."""
    import torch

    where = torch.arange(place.context, device=like.device)[None]
    with torch.no_grad():
        if position.biases:
            factor_TT = np.tril(_numpy(position.bias(where, where, True)[0].float().exp().mean(0)))
            return "factor", factor_TT + np.tril(factor_TT, -1).T  # a key comes before its query: only the pair counts
        if position.turns:
            ones = like.new_ones(1, place.heads, place.context, place.head_width)
            turned_TE = position.turn(ones, where)[0, 0]
            return "turned", _numpy(turned_TE @ turned_TE.T / turned_TE.shape[-1])
        added_TD = position.embed(like.new_zeros(1, place.context, place.width), where)[0]
        if not added_TD.any():
            return None
        unit_TD = added_TD / added_TD.norm(dim=-1, keepdim=True).clamp(min=1e-30)
        return "cosine", _numpy(unit_TD @ unit_TD.T)


def _numpy(matrix: Any) -> np.ndarray:
    return matrix.detach().cpu().double().numpy()
