"""Gradient norms of one model on one text: what the measurements of torch and of the engine have in common."""

from __future__ import annotations

from dataclasses import dataclass

Norms = tuple[float, ...]


@dataclass(frozen=True)
class Gradients:
    """Of one model on one text; norms are Euclidean."""

    layers: tuple[str, ...]  # the sublayers from the input to the output: `0 lstm`
    by_distance: tuple[Norms, ...]  # for each layer: ‖∂loss_t / ∂h_{t−d}‖ at d = 0, 1, …, the mean over rows
    by_layer: Norms  # for each layer: the norm of ∂loss / ∂(its parameters)
    norm: float  # of all parameters together
    clip: float | None  # the largest norm that training lets pass
    clipped: float  # the norm after clipping
    loss: float  # nats a token

    @property
    def factor(self) -> float:
        """By how much clipping makes every gradient smaller: their direction stays, so it is one number for all."""
        return self.clipped / self.norm if self.clipped < self.norm else 1.0
