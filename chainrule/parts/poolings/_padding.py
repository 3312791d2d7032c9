"""Which vectors of a padded batch are real."""

from __future__ import annotations

import torch
from torch import Tensor


def real(hidden_BTD: Tensor, lengths: Tensor | None) -> Tensor:
    """(B, T, 1): True where a vector is not padding."""
    time = torch.arange(hidden_BTD.shape[1], device=hidden_BTD.device)
    if lengths is None:
        return torch.ones_like(time, dtype=torch.bool)[None, :, None].expand(len(hidden_BTD), -1, 1)
    return (time < lengths[:, None])[:, :, None]


def last_place(hidden_BTD: Tensor, lengths: Tensor | None) -> Tensor:
    """(B,): where the last real vector of each row stands."""
    time = hidden_BTD.shape[1]
    if lengths is None:
        return torch.full((len(hidden_BTD),), time - 1, dtype=torch.long, device=hidden_BTD.device)
    return (lengths - 1).clamp(min=0)
