"""`torch.compile` where it pays; where it cannot, training goes on without, and says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Compiled:
    """Runs the loss through a compiled model, or the model itself from the first failure on."""

    def __init__(self, model: Any, wish: str, device: torch.device, say: Callable[[str], None]):
        self.model, self.say = model, say
        wanted = wish == "on" or (wish == "auto" and device.type == "cuda")
        self.fast: Any = torch.compile(model) if wanted else model

    def run(self, loss: Callable[..., Any], batch: Any, state: Any) -> Any:
        if self.fast is self.model:
            return loss(self.model, batch, state)
        from torch._dynamo.exc import TorchDynamoException

        try:
            return loss(self.fast, batch, state)
        except TorchDynamoException as error:
            reason = str(error).strip().split("\n")[0]
        self.fast = self.model
        self.say(f"torch.compile does not work here ({reason}); training goes on without it.")
        return loss(self.model, batch, state)
