"""The loss of a batch as one module: what is differentiated, compiled and sharded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from chainrule.parts.losses import collected_losses


class Objective(nn.Module):
    """The task's loss of the network plus the auxiliary losses of parts, such as the balance of experts."""

    def __init__(self, network: Any, task: Any, *, smoothing: float = 0.0):
        super().__init__()
        self.network, self.task, self.smoothing = network, task, smoothing
        self._compiled: Any = None  # how the network is called where it is compiled

    def forward(self, batch: Any) -> tuple[Tensor, Tensor, Any]:
        """What is differentiated, the task's own loss, and the state after the batch; losses are sums over targets."""
        with collected_losses() as added, self._as_compiled():
            loss, count, after = self.task.loss(self.network, batch, smoothing=self.smoothing)
        whole = loss
        for value in added.values():
            whole = whole + count * value
        return whole, loss.detach(), after

    def compile_network(self, on: bool) -> None:
        """Switches compilation of the network and of the loss on or off.

        Only for training: in generation and evaluation, shapes change all the time.
        """
        if on:
            self.network.compile()
        self._compiled = self.network._compiled_call_impl if on else None
        self.network._compiled_call_impl = None

    @contextmanager
    def _as_compiled(self) -> Iterator[None]:
        self.network._compiled_call_impl, self.network.head.compiled = self._compiled, self._compiled is not None
        try:
            yield
        finally:
            self.network._compiled_call_impl, self.network.head.compiled = None, False
