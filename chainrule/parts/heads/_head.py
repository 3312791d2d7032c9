"""What a head can do: the loss of targets and ln p of every output, in chunks, to bound the memory of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

SCORES = {"cpu": 1 << 21, "cuda": 1 << 29}  # that exist at a time: a CPU wants them in its cache, a GPU large chunks
IGNORED = -100  # a target that counts for nothing, such as padding


class Head(nn.Module):
    """From vectors (…, D) to a distribution over `outputs` classes."""

    outputs: int
    exclusive = True  # one output is right, so that probabilities sum to one; else each is right or wrong by itself
    looks_at_source = False  # whether it copies from a source, which `loss` and `log_probs` are then given
    sequential = False  # whether its loss is of a whole sequence, and not of each position: a `SequenceHead`
    compiled = False  # whether the work on a chunk's scores is fused: saves a fifth of GPT-2's training step on an H200
    scores_at_once: int | None = None  # other than what suits the device

    @property
    def scores_of_a_row(self) -> int:
        """How many numbers `summed` keeps for one vector."""
        return self.outputs

    def summed(self, hidden: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        """Σ −ln p(target) of rows (R, D) with targets (R,), those that are IGNORED left out."""
        raise NotImplementedError

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = ()) -> Tensor:
        """(…, outputs): ln p in float32 or better; `never` names outputs that have no probability."""
        raise NotImplementedError

    def decode(self, hidden: Tensor, lengths: Tensor | None = None) -> list[np.ndarray]:
        """The likeliest output of each position of rows (B, T, D), of which `lengths` are real."""
        with torch.no_grad():
            chosen_BT = self.log_probs(hidden).argmax(-1).cpu().numpy()
        return [own[:length] for own, length in zip(chosen_BT, real_lengths(hidden, lengths).tolist(), strict=True)]

    def loss(self, hidden: Tensor, targets: Tensor, *, smoothing: float = 0.0) -> Tensor:
        r"""Σ_t −ln p(w_t | h_t), summed over all targets that are not IGNORED.

        hidden (…, D), targets (…), or (…, outputs) where each is right or wrong by itself. With smoothing ε the target
        is (1 − ε) one-hot + ε/V (Szegedy et al. 2016, arXiv:1512.00567, §7). Where gradients are wanted they are
        computed in the forward pass, chunk by chunk, so that each chunk's scores can be freed at once; the backward
        pass only scales them. What fits into one chunk is left to autograd: half the time for 768 tokens of 65.
        """
        rows, wanted = hidden.flatten(0, -2), targets.flatten(0, hidden.dim() - 2)
        at_once = self.scores_at_once or SCORES.get(hidden.device.type, SCORES["cpu"])
        size = max(1, at_once // self.scores_of_a_row)
        if not torch.is_grad_enabled():
            return torch.stack([self.summed(h, w, smoothing) for h, w in _chunks(rows, wanted, size)]).sum()
        if len(rows) <= size and not self.compiled:
            return self.summed(rows, wanted, smoothing)
        parameters = [p for p in self.parameters() if p.requires_grad]
        summed = _compiled() if self.compiled else _summed
        return _InChunks.apply(rows, wanted, self, smoothing, size, summed, *parameters)


class SequenceHead(Head):
    """A head that chooses all outputs of a row together, as a CRF and CTC do: its loss is −ln p(y₁…y_U | h₁…h_T).

    Rows are (B, T, D), so many vectors of each real: `lengths` (B,), None where no row is padded. Targets are (B, U),
    filled up with IGNORED. `log_probs` are those of each position by itself.
    """

    sequential = True
    aligned = True  # every vector has its target, U = T; else there are fewer, and the head finds out where they stand

    def loss(self, hidden: Tensor, targets: Tensor, *, smoothing: float = 0.0, lengths: Tensor | None = None) -> Tensor:
        """Σ −ln p(targets of a row | its vectors), over all rows."""
        raise NotImplementedError

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = (), lengths: Tensor | None = None) -> Tensor:
        raise NotImplementedError

    def decode(self, hidden: Tensor, lengths: Tensor | None = None) -> list[np.ndarray]:
        """The likeliest outputs of each row."""
        raise NotImplementedError


def real_lengths(hidden: Tensor, lengths: Tensor | None) -> Tensor:
    """(B,): all positions where no row is padded."""
    return torch.full((len(hidden),), hidden.shape[1], device=hidden.device) if lengths is None else lengths


def _summed(head: Head, hidden: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    return head.summed(hidden, targets, smoothing)


@cache
def _compiled() -> Callable[..., Tensor]:
    return torch.compile(_summed)


def _chunks(hidden: Tensor, targets: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(hidden.split(size), targets.split(size), strict=True)


class _InChunks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, targets: Tensor, head: Head, smoothing: float, size: int,
                summed: Callable[..., Tensor], *parameters: Tensor) -> Tensor:
        total: Any = 0
        of_hidden, of_parameters = torch.empty_like(hidden), [torch.zeros_like(p) for p in parameters]
        for n, (h, w) in enumerate(_chunks(hidden, targets, size)):
            with torch.enable_grad():
                leaf = h.detach().requires_grad_()
                loss = summed(head, leaf, w, smoothing)
                of_leaf, *of_head = torch.autograd.grad(loss, [leaf, *parameters], allow_unused=True)
            total = total + loss.detach()
            of_hidden[n * size:(n + 1) * size] = of_leaf
            for sum_, more in zip(of_parameters, of_head, strict=True):
                if more is not None:
                    sum_ += more
        ctx.save_for_backward(of_hidden, *of_parameters)
        return total

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> Any:
        of_hidden, *of_parameters = ctx.saved_tensors
        of_head = (g * given[0].to(g) for g in of_parameters)
        return of_hidden * given[0].to(of_hidden), None, None, None, None, None, *of_head
