"""Two mixers that read the same input, added up."""

from __future__ import annotations

from typing import Annotated, Any

from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part
from chainrule.watching import placed


@part
class SideBySide(nn.Module):
    r"""Two mixers read the same input, and what they give is added.

    y = f(x) + g(x)

    Self-attention beside cross-attention in the decoder cell of So, Liang & Le 2019, arXiv:1901.11117, Figure 3;
    attention beside a convolution (the default) after Wu et al. 2020, arXiv:2004.11886, where each has one half of the
    width. Parameters start as each of the two has it.
    """

    def __init__(self, place: Place, *, one: Annotated[Choice, PartOf("parts/mixers")] = "attention",
                 other: Annotated[Choice, PartOf("parts/mixers")] = "gated_convolution"):
        super().__init__()
        self.one: Any = build("parts/mixers", one, place)
        self.other: Any = build("parts/mixers", other, place)
        self.reads = min({getattr(each, "reads", "either") for each in (self.one, self.other)} - {"either"},
                         default="either")  # as the two can read

    @property
    def bounded(self) -> bool:
        return any(getattr(each, "bounded", False) for each in (self.one, self.other))

    @property
    def recurrent(self) -> bool:
        return any(getattr(each, "recurrent", False) for each in (self.one, self.other))

    def start(self, batch: int, room: int, like: Tensor) -> tuple[Any, Any]:
        return self.one.start(batch, room, like), self.other.start(batch, room, like)

    def forward(self, x: Tensor, state: tuple[Any, Any] | None, reading: Reading
                ) -> tuple[Tensor, tuple[Any, Any] | None]:
        before = state or (None, None)
        y, first = placed("one", self.one, x, before[0], reading)
        z, second = placed("other", self.other, x, before[1], reading)
        return y + z, None if state is None else (first, second)

    def stream_weights(self) -> list[Tensor]:
        """Those of both."""
        return [weight for each in (self.one, self.other) for weight in (
            each.stream_weights() if hasattr(each, "stream_weights") else
            [parameter for parameter in each.parameters() if parameter.dim() > 1])]
