"""The processes that train one model together: their ranks, and the values that all of them share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Group:
    """This process and the number of processes, which share the rows of every batch; alone it is rank 0 of 1.

    Rank 0 leads: it writes files, reads the clock and prints messages.
    """

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def share(self, rows: int) -> tuple[int, int]:
        """Where this process' rows of a batch begin and end."""
        return rows * self.rank // self.size, rows * (self.rank + 1) // self.size

    def maximum(self, value: float) -> float:
        """The largest value of all processes: for example, whether any of them ran out of memory or was stopped."""
        if self.size == 1:
            return value
        import torch
        from torch import distributed

        largest = torch.tensor(float(value), dtype=torch.float64, device=_device())
        distributed.all_reduce(largest, distributed.ReduceOp.MAX)
        return largest.item()

    def broadcast(self, value: Any) -> Any:
        """The leader's value, such as the share of the budget that is spent: plain values."""
        if self.size == 1:
            return value
        from torch import distributed

        values = [value]
        distributed.broadcast_object_list(values, src=0, device=_device())
        return values[0]

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, by rank: plain values and tensors on the host."""
        if self.size == 1:
            return [value]
        from torch import distributed

        values: list[Any] = [None] * self.size
        distributed.all_gather_object(values, value)
        return values

    def wait(self) -> None:
        """Waits until every process has called it."""
        self.maximum(0)

    def sum_(self, tensors: Sequence[Any]) -> None:
        """Adds up tensors of all processes, in place: gradients and losses."""
        if self.size == 1 or not tensors:
            return
        import torch
        from torch import distributed

        for dtype in dict.fromkeys(each.dtype for each in tensors):
            own = [each for each in tensors if each.dtype == dtype]
            flat = torch.cat([each.reshape(-1) for each in own])
            distributed.all_reduce(flat)
            for each, summed in zip(own, flat.split([each.numel() for each in own]), strict=True):
                each.copy_(summed.view_as(each))


def group_from_environment() -> Group:
    """The group in the environment variables of `torchrun`; a group of one without them."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    return Group() if size == 1 or "RANK" not in os.environ else Group(int(os.environ["RANK"]), size)


def joined_group() -> Group:
    """The same, with the connection between its processes set up."""
    if group_from_environment().size == 1:
        return Group()
    import torch
    from torch import distributed

    if not distributed.is_initialized():
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return Group(distributed.get_rank(), distributed.get_world_size())


def _device() -> Any:
    import torch
    from torch import distributed

    return torch.device("cuda" if distributed.get_backend() == "nccl" else "cpu")
