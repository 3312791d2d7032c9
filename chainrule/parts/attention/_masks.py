"""Which keys a query must not see, as a mask that is added to the scores: later ones, padding, what a part hides."""

from __future__ import annotations

import torch
from torch import Tensor

from chainrule.errors import OptionError
from chainrule.parts.reading import Reading


def mask_of(q: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading, seen: Tensor | None = None
            ) -> tuple[Tensor | None, bool]:
    """What is added to the scores (B or 1, H or 1, Q, K), or None; and whether only later keys are to be hidden.

    q is (B, H, Q, E), q_pos (B or 1, Q), k_pos (B or 1, K). A part that looks at some keys only says which: `seen`
    (B or 1, Q, K), without later ones where it is causal.
    """
    mask = None
    if reading.position is not None and reading.position.biases:
        mask = reading.position.bias(q_pos, k_pos, reading.causal).to(q.dtype)
    last = q_pos.shape[1] == 1 and reading.even  # a single query that has read all keys
    causal = reading.causal and not last and seen is None
    if causal and mask is None and q_pos is not k_pos:
        return reading.once(("later", k_pos.shape[1], q.dtype), lambda: _hidden(_not_later(q_pos, k_pos), q)), False
    if causal and mask is not None:
        seen, causal = _not_later(q_pos, k_pos), False
    if not reading.causal and reading.lengths is not None:  # a causal reader never sees padding
        real_BQK = (k_pos < reading.lengths[:, None])[:, None]
        seen = something(real_BQK if seen is None else seen & real_BQK)
    if seen is not None:
        mask = _hidden(seen, q, mask)
    return mask, causal


def _not_later(q_pos: Tensor, k_pos: Tensor) -> Tensor:
    return k_pos[:, None, :] <= q_pos[:, :, None]


def _hidden(seen: Tensor, q: Tensor, mask: Tensor | None = None) -> Tensor:
    """−∞ at keys that are not seen (B or 1, Q, K), for all heads."""
    return torch.where(seen[:, None], q.new_zeros(()) if mask is None else mask, -torch.inf)


def something(seen: Tensor) -> Tensor:
    """A query that would see nothing but padding sees the first key: its output is of no use, but must not be NaN."""
    first = torch.arange(seen.shape[-1], device=seen.device) == 0
    return seen | (first & ~seen.any(-1, keepdim=True))


def refuse_bias(reading: Reading, owner: str) -> None:
    """For parts that have no score for each pair of positions."""
    if reading.position is not None and reading.position.biases:
        name = type(reading.position).__module__.rpartition(".")[2]
        raise OptionError("model.position", name, "rotary, sinusoidal or another that adds nothing to scores",
                          f"{owner} has no score for each pair of positions.")
