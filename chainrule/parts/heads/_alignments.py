"""All alignments of a text with the frames of a recording, summed by the forward algorithm; and the best of them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def log_likelihood(log_p_BTV: Tensor, targets_BU: Tensor, lengths_B: Tensor, blank: int) -> Tensor:
    r"""(B,): ln p(y | x), summed over all ways to say y in so many frames; −∞ where there is none.

    α_t(s) = ln p_t(ℓ_s) + ln Σ_{r} e^{α_{t−1}(r)},  r ∈ {s, s − 1} and s − 2 where ℓ_s ≠ blank, ℓ_{s−2}
    ln p(y | x) = ln (e^{α_T(2U)} + e^{α_T(2U − 1)}),   ℓ = blank y₁ blank y₂ … y_U blank

    Graves et al. 2006, "Connectionist temporal classification", eq. 6–8. Targets behind the end of a row are negative.
    torch's `ctc_loss` is the same, fused.
    """
    labels_BS, skips_BS = extended(targets_BU, blank)
    emitted_BTS = log_p_BTV.gather(2, labels_BS[:, None].expand(-1, log_p_BTV.shape[1], -1))
    never = emitted_BTS.new_full((), -torch.inf)
    alpha_BS = torch.where(torch.arange(labels_BS.shape[1], device=labels_BS.device) < 2, emitted_BTS[:, 0], never)
    for t in range(1, emitted_BTS.shape[1]):
        before_BS = torch.stack([alpha_BS, _moved(alpha_BS, 1), torch.where(skips_BS, _moved(alpha_BS, 2), never)])
        next_BS = emitted_BTS[:, t] + _log_sum(before_BS)
        alpha_BS = torch.where((t < lengths_B)[:, None], next_BS, alpha_BS)
    last_B = 2 * (targets_BU >= 0).sum(1)
    ends_B2 = torch.stack([last_B, (last_B - 1).clamp(min=0)], dim=1)
    found = alpha_BS.gather(1, ends_B2)
    return _log_sum(torch.where((last_B == 0)[:, None] & torch.tensor([False, True], device=last_B.device), never,
                                found).T)


def extended(targets_BU: Tensor, blank: int) -> tuple[Tensor, Tensor]:
    """(B, 2U + 1) labels with blanks around each, and where the blank before a label may be left out."""
    rows, most = targets_BU.shape
    labels_BS = targets_BU.new_full((rows, 2 * most + 1), blank)
    labels_BS[:, 1::2] = torch.where(targets_BU >= 0, targets_BU, blank)
    skips_BS = torch.zeros_like(labels_BS, dtype=torch.bool)
    skips_BS[:, 2:] = (labels_BS[:, 2:] != blank) & (labels_BS[:, 2:] != labels_BS[:, :-2])
    return labels_BS, skips_BS


def _moved(alpha_BS: Tensor, by: int) -> Tensor:
    """Each state's value `by` states later, −∞ before them."""
    return torch.nn.functional.pad(alpha_BS, (by, 0), value=-torch.inf)[:, :alpha_BS.shape[1]]


def _log_sum(values: Tensor) -> Tensor:
    """ln Σ e^v over the first axis; −∞, with no gradient, where all are −∞."""
    top = values.amax(0).clamp(min=torch.finfo(values.dtype).min)
    total = (values - top).exp().sum(0)
    return torch.where(total > 0, total, 1).log() + torch.where(total > 0, top, -torch.inf)


def best_alignment(log_p_TV: np.ndarray, ids: np.ndarray, blank: int) -> np.ndarray | None:
    """(T,): which of the ids each frame says in the likeliest alignment, −1 for the blank; None where none fits.

    The recursion of `log_likelihood` with the largest term in the place of the sum (Viterbi 1967).
    """
    labels_S = np.full(2 * len(ids) + 1, blank)
    labels_S[1::2] = ids
    skips_S = np.zeros(len(labels_S), bool)
    skips_S[2:] = (labels_S[2:] != blank) & (labels_S[2:] != labels_S[:-2])
    alpha_S = np.where(np.arange(len(labels_S)) < 2, log_p_TV[0, labels_S], -np.inf)
    came_TS = np.zeros((len(log_p_TV), len(labels_S)), np.int64)
    for t in range(1, len(log_p_TV)):
        moved = [np.concatenate([np.full(by, -np.inf), alpha_S])[:len(labels_S)] for by in (0, 1, 2)]
        before = np.stack([moved[0], moved[1], np.where(skips_S, moved[2], -np.inf)])
        came_TS[t] = before.argmax(0)
        alpha_S = before.max(0) + log_p_TV[t, labels_S]
    state = max(len(labels_S) - 2, 0) + int(alpha_S[-1] >= alpha_S[max(len(labels_S) - 2, 0)] and len(labels_S) > 1)
    if not np.isfinite(alpha_S[state]):
        return None
    found = np.empty(len(log_p_TV), np.int64)
    for t in range(len(log_p_TV) - 1, -1, -1):
        found[t] = state // 2 if state % 2 else -1
        state -= came_TS[t, state]
    return found
