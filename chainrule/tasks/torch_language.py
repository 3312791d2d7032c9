"""Language modeling in torch: the loss in chunks, and batches on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.tasks.cross_entropy import cross_entropy
from chainrule.tasks.language import Batch, Language


class TorchLanguage(Language):
    """For stacks of torch, on any device."""

    def loss(self, model: Any, batch: Batch, state: Any) -> tuple[Tensor, Any]:
        hidden, after = model(batch.read, state)
        compiled = hasattr(model, "_orig_mod")  # torch.compile wraps a module so
        return cross_entropy(hidden, model.head, batch.wanted, smoothing=self.smoothing, compiled=compiled), after

    def start(self, model: Any, rows: int) -> Any:
        return model.start(rows, 1) if self.carries else None

    @torch.no_grad()
    def measured(self, model: Any, batch: Batch, state: Any) -> tuple[float, Any]:
        hidden, after = model(batch.read, state)
        return float(cross_entropy(hidden, model.head, batch.wanted)), after

    def sent(self, ids: np.ndarray, device: torch.device | None) -> Tensor:
        tensor = torch.from_numpy(ids)
        if device is not None and device.type == "cuda":
            return tensor.pin_memory().to(device, non_blocking=True)
        return tensor
