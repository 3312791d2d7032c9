"""What a position part may do: change the embeddings, turn queries and keys, or bias the scores."""

from __future__ import annotations

from torch import Tensor, nn


class Position(nn.Module):
    """The three places where positions can enter; a part overrides one of them."""

    context: int | None = None  # the most positions it knows; None where any number works

    turns = biases = False  # which of the three a part overrides; what does nothing is not asked

    def __init_subclass__(cls) -> None:
        cls.turns, cls.biases = cls.turn is not Position.turn, cls.bias is not Position.bias

    def __init__(self, width: int, heads: int, context: int):
        super().__init__()

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """x (B, T, D) with the positions (T,) told."""
        return x

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        """Queries or keys (B, H, T, E) at positions (T,)."""
        return x

    def bias(self, q_pos: Tensor, k_pos: Tensor, causal: bool) -> Tensor | None:
        """(H, Q, K) to be added to the scores, or None; a causal reader never looks at k_pos > q_pos."""
        return None
