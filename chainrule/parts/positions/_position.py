"""What a position part may do: change the embeddings, turn queries and keys, or bias the scores."""

from __future__ import annotations

from torch import Tensor, nn

from chainrule.parts.place import Place


class Position(nn.Module):
    """The three places where positions can enter; a part overrides one of them."""

    context: int | None = None  # the most positions it knows; None where any number works

    turns = biases = False  # which of the three a part overrides; the others are not called

    def __init_subclass__(cls) -> None:
        cls.turns, cls.biases = cls.turn is not Position.turn, cls.bias is not Position.bias

    def __init__(self, place: Place):
        super().__init__()

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """x (B, T, D) with the positions (B or 1, T) added."""
        return x

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        """Queries or keys (B, H, T, E) at positions (B or 1, T)."""
        return x

    def bias(self, q_pos: Tensor, k_pos: Tensor, causal: bool) -> Tensor | None:
        """(B or 1, H, Q, K) to be added to the scores, or None, for q_pos (B or 1, Q) and k_pos (B or 1, K).

        A causal reader never looks at k_pos > q_pos.
        """
        return None
