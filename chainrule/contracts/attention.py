"""Contract of attention parts: what they do with queries and keys at any positions."""

from __future__ import annotations

import torch

from chainrule.contracts.contract import check, require, require_close
from chainrule.contracts.sublayers import ATTENTION, HEADS, D, moved, reads, small
from chainrule.parts.place import Place
from chainrule.parts.reading import NOWHERE, Reading
from chainrule.recipe.registry import build


@check(ATTENTION)
@torch.no_grad()
def absent_keys(kind: str, name: str) -> None:
    """Keys that are absent or come later do not change a causal output."""
    if not reads(kind, name, True):
        return
    torch.manual_seed(0)
    place = Place(D, heads=HEADS)
    attend = moved(build(kind, small(kind, name), place)).double().eval()
    q, k, v = (torch.randn(2, HEADS, time, D // HEADS, dtype=torch.float64) for time in (1, 6, 6))
    q_pos, k_pos = torch.tensor([[4], [2]]), torch.tensor([[0, 1, 2, 3, 4, NOWHERE], [0, 1, 2, NOWHERE, NOWHERE, 5]])
    position = build("parts/positions", "none", place)
    reading = Reading(position=position, positions=q_pos, even=False)
    y = attend(q, k, v, q_pos, k_pos, reading)
    hidden = (k_pos > q_pos)[:, None, :, None]
    other = attend(q, torch.where(hidden, 9.0, k), torch.where(hidden, 9.0, v), q_pos, k_pos, reading)
    require_close(other, y, "the output with other numbers at absent keys")
    require(y.shape == q.shape, f"of queries {tuple(q.shape)} it makes {tuple(y.shape)}")


@check(ATTENTION)
def says_what_it_remembers(kind: str, name: str) -> None:
    """It says how many of the last keys it can still see, or that it may see all."""
    attend = build(kind, name, Place(D, heads=HEADS))
    memory = getattr(attend, "memory", 0)
    require(memory is None or (isinstance(memory, int) and memory > 0), f"memory = {memory!r}, expected None (all keys "
            "so far) or the number of the last keys, itself included, that the next query can see")
