"""What a sublayer gets besides its input: reading direction, positions, padding, and the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

NOWHERE = 1 << 30  # the position of a key that is not there: no query comes so far


@dataclass(frozen=True)
class Reading:
    """One forward pass, as all sublayers see it."""

    causal: bool = True  # a position sees only itself and what came before
    lengths: Tensor | None = None  # (B,) real tokens of each row; None where no row is padded
    source: Tensor | None = None  # (B, S, D) what cross-attention looks at
    source_lengths: Tensor | None = None  # (B,)
    source_layers: tuple[Tensor, ...] | None = None  # the source after 0, 1, … of its sublayers, where a part asks
    layers: list[Tensor] | None = None  # of a source: where the stack puts them
    position: Any = None  # the position part, for mixers that ask it
    positions: Tensor | None = None  # (B or 1, T) where each input stands in its row
    span: int | None = None  # places of a cache that are in use after this pass; None: look at all of its room
    even: bool = True  # all rows have read equally much
    carried: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)  # from one stream part to later
    memo: dict[Any, Tensor] = field(default_factory=dict, compare=False, repr=False)  # of this pass: see `once`

    def real(self, time: int) -> Tensor | None:
        """(B, T): which positions are not padding."""
        return _within(self.lengths, time)

    def once(self, key: Any, make: Callable[[], Tensor]) -> Tensor:
        """A value that all sublayers of this pass share, such as a mask: computed once."""
        if torch.compiler.is_compiling():
            return make()
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def carrying(self, key: str, value: Any) -> Reading:
        """The same, with a value that stream parts further up find under `carried`; None takes it away."""
        rest = {name: each for name, each in self.carried.items() if name != key}
        return replace(self, carried=rest if value is None else rest | {key: value})

    def from_start(self, time: int, device: torch.device) -> Reading:
        """For a whole text."""
        return replace(self, positions=torch.arange(time, device=device)[None], span=time, memo={})

    def after(self, lengths: Tensor, time: int) -> Reading:
        """For `time` more inputs in rows that have read so many.

        Reads the lengths, which waits for a GPU: `after_any` does not, but attends to more keys.
        """
        least, most = lengths.aminmax() if len(lengths) else (lengths.new_zeros(()),) * 2
        even = bool(least == most)
        found = self.after_any(lengths[:1] if even and len(lengths) else lengths, time)
        return replace(found, span=int(most) + time, even=even, memo={})

    def after_any(self, lengths: Tensor, time: int) -> Reading:
        """The same for any lengths, with shapes that do not depend on them: what a CUDA graph can record."""
        ahead = torch.arange(time, device=lengths.device)
        return replace(self, positions=lengths[:, None] + ahead, span=None, even=False, memo={})


def _within(lengths: Tensor | None, time: int) -> Tensor | None:
    return None if lengths is None else torch.arange(time, device=lengths.device) < lengths[:, None]
