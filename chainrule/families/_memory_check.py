"""Refuses a neural model that does not fit in memory before it is built: full memory would end other programs."""

from __future__ import annotations

from typing import Any

from chainrule.errors import ChainruleError
from chainrule.storage.environment import memory

BYTES = 8  # of each parameter at least: weight and gradient in float32; optimizer and activations need more


def check_memory(shape: Any, sizes: Any, device: str) -> None:
    """Refuses weights and gradients larger than the machine's memory; a GPU raises its own error."""
    from chainrule.models.cost.counting import on_meta
    from chainrule.training.networks import chosen_device

    if chosen_device(device).type != "cpu":
        return
    check_count(sum(each.numel() for each in on_meta(shape, sizes).parameters()))


def check_count(count: int, bound: str = "") -> None:
    """The same for so many parameters, or "at least " so many."""
    if count * BYTES > memory():
        raise ChainruleError(f"the model has {bound}{count:,} parameters, whose weights and gradients alone take "
                             f"{count * BYTES / 1e9:,.0f} GB; this machine has {memory() / 1e9:,.0f} GB of memory. Try "
                             "a smaller model.width, or fewer layers in model.pattern.")
