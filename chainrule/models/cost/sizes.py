"""Bytes that training and decoding take, by what they are for."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class TrainingMemory:
    """Bytes. Not included: the program itself, short-lived results inside an operation, and gaps of the allocator."""

    weights: int
    gradients: int
    optimizer: int
    activations: int  # what the forward pass keeps for the backward pass, for one micro-batch
    logits: int  # of as many tokens as the loss takes at once: their log-probabilities and two gradients
    average: int = 0  # of the weights, where one is kept

    @property
    def total(self) -> int:
        return sum(getattr(self, each.name) for each in fields(self))


@dataclass(frozen=True)
class DecodingMemory:
    """Bytes for one sequence: what stays the same, and what each token adds."""

    fixed: int
    per_token: int
