"""The Fisher information of a probe network on a labeled data set: which of its weights the task would change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from chainrule.parts.poolings.mean import Mean
from chainrule.parts.reading import Reading

STEPS, RATE = 300, 0.05  # of the head, which is trained on fixed vectors


def embedded(stack: Any, arrays: Sequence[np.ndarray], labels: np.ndarray, *, classes: int, seed: int = 0
             ) -> np.ndarray:
    """The diagonal of the Fisher information of the stack's sublayers, a mean for each row of each matrix.

    F = E_x E_{y ~ p(y | x)} [∇ ln p(y | x)]²,   p = softmax(V · mean_t stack(x)_t + c)

    Achille et al. 2019 (Task2Vec), arXiv:1902.03545, §2 and §3: the probe is fixed, a head is trained for each task,
    and what is averaged there over each filter is averaged here over each row. y is drawn once for each x.
    """
    stack.eval()
    pooled = torch.stack([_vector(stack, array).detach() for array in arrays])
    center, scale = pooled.mean(0), pooled.std(0) + 1e-6
    head = _trained((pooled - center) / scale, torch.from_numpy(labels).to(pooled.device), classes, seed)
    draw = torch.Generator().manual_seed(seed)
    weights = [each for each in stack.sublayers.parameters() if each.dim() > 1]
    sums = [torch.zeros_like(each) for each in weights]
    for array in arrays:
        log_p = F.log_softmax(head((_vector(stack, array) - center) / scale), dim=-1)
        drawn = int(torch.multinomial(log_p.detach().exp().cpu(), 1, generator=draw))
        for total, own in zip(sums, torch.autograd.grad(log_p[drawn], weights, allow_unused=True), strict=True):
            if own is not None:
                total += own.square()
    return np.concatenate([(total / len(arrays)).flatten(1).mean(1).cpu().numpy() for total in sums])


def _vector(stack: Any, array: np.ndarray) -> torch.Tensor:
    """(D,): the mean of the vectors of one text."""
    ids = torch.from_numpy(array.astype(np.int64)[None]).to(stack.device)
    hidden, _ = stack(ids, None, Reading(stack.shape.causal))
    return Mean.forward(None, hidden, None)[0]  # type: ignore[arg-type]


def _trained(vectors: torch.Tensor, labels: torch.Tensor, classes: int, seed: int) -> nn.Linear:
    """A linear head on fixed vectors, by gradient descent on all of them at once."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = nn.Linear(vectors.shape[1], classes).to(vectors.device)
    optimizer = torch.optim.Adam(head.parameters(), lr=RATE, weight_decay=1e-4)
    for _ in range(STEPS):
        optimizer.zero_grad()
        F.cross_entropy(head(vectors), labels).backward()
        optimizer.step()
    return head


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """The cosine distance of F_a / (F_a + F_b) and F_b / (F_a + F_b): §3.1, whatever the size of either."""
    total = one + other
    used = total > 0
    a, b = one[used] / total[used], other[used] / total[used]
    return float(1 - a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-30))
