"""Which inputs decided: gradient × input, a share of the difference of two labels' scores for each token of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from chainrule.parts.reading import Reading


@dataclass(frozen=True)
class Share:
    """A token of a text, and the word that it is of, by number; the word after the last is a mark."""

    kind: str
    text: str
    words: tuple[int, ...]


def gradient_times_input(stack: Any, inputs: torch.Tensor, lengths: Any, label: int, other: int) -> np.ndarray:
    """(T,): e_t · ∂(score(label) − score(other)) / ∂e_t, e_t the embedding of token t.

    Denil, Demiraj & de Freitas 2014, arXiv:1412.6815; of a network that is linear in its embeddings these shares sum to
    the difference itself, of others they are its first-order term.
    """
    found: list[torch.Tensor] = []

    def keep(_module: Any, _given: Any, vectors: torch.Tensor) -> torch.Tensor:
        leaf = vectors.detach().requires_grad_()
        found.append(leaf)
        return leaf

    hook = stack.embedding.register_forward_hook(keep)
    try:
        with torch.enable_grad():
            hidden, _ = stack(inputs, None, Reading(stack.shape.causal, lengths=lengths))
            log_p = stack.head.log_probs(stack.pooled(hidden, lengths))[0]
            (log_p[label] - log_p[other]).backward()
    finally:
        hook.remove()
        stack.zero_grad(set_to_none=True)
    [leaf] = found
    assert leaf.grad is not None
    return (leaf.detach() * leaf.grad).sum(-1)[0].float().cpu().numpy()


def words_of_tokens(text: str, tokenizer: Any) -> list[tuple[str, int]] | None:
    """The spelling of each token of a text and the number of its word; None where tokens are not parts of words."""
    found, whole = list[tuple[str, int]](), tokenizer.encode(text)
    for number, word in enumerate(text.split()):
        own = tokenizer.encode(f" {word}" if number and tokenizer.keeps_space else word)
        found += [(tokenizer.token(int(id)), number) for id in own]
    return found if len(found) == len(whole) else None
