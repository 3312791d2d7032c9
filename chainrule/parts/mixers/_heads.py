"""Several heads at once: a width taken apart and put together again; the attention part and the norms of heads."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.recipe.choices import Choice
from chainrule.recipe.registry import build, resolve


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, H · E) to (B, H, T, E)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """The reverse."""
    return x.transpose(1, 2).flatten(2)


def check_heads(owner: str, width: int, heads: int, dropout: float) -> None:
    """What every attention mixer asks of its options."""
    if heads < 1 or width % heads:
        raise OptionError(f"{owner}.heads", heads, f"a divisor of width {width}")
    if not 0 <= dropout < 1:
        raise OptionError(f"{owner}.dropout", dropout, "at least 0 and less than 1")


def attention_part(owner: str, attend: Choice, place: Place) -> Any:
    """The part that weighs keys; one that reads both ways only is refused where what follows must not be seen."""
    found = build("parts/attention", attend, place)
    declared = getattr(found, "reads", "either")
    if declared != "either" and (declared == "causal") != place.causal:
        raise OptionError(f"{owner}.attend", resolve("parts/attention", attend)["name"],
                          f"one that can read {'from left to right' if place.causal else 'both ways'}",
                          "Encoders and masked language models read both ways, language models from left to right.")
    return found


def norms_of_heads(norm: Choice, width: int, compared: int) -> nn.ModuleList | None:
    """A norm for queries and one for keys, the same for all heads; None where there is none."""
    name = resolve("parts/norms", norm)["name"]
    if name == "none":
        return None
    if not compared:
        raise OptionError("Attention.qk_norm", name, "none",
                          "This kind of attention does not compare queries and keys.")
    return nn.ModuleList(build("parts/norms", norm, Place(width)) for _ in range(2))
