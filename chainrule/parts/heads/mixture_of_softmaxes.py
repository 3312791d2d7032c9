"""A mixture of softmaxes: ln p has a higher rank than one matrix can give it."""

from __future__ import annotations

from typing import Annotated, Any

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.heads._head import IGNORED, Head
from chainrule.parts.heads._softmax import Softmax, precise
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part


@part
class MixtureOfSoftmaxes(Head):
    r"""Several softmaxes over the same output matrix, weighed by the context.

    p(w | h) = Σ_k π_k softmax(scores(h_k))[w],   π = softmax(M h),   h_k = tanh(U_k h + b_k)

    Yang, Dai, Salakhutdinov & Cohen 2018, arXiv:1711.03953, eq. 1 and §2.4. `scores` are those of the head `inside`:
    tied as in the paper, untied, mlp. Computed with logarithms; the loss takes from each softmax the target and the
    normalizer only. M and U_k start as N(0, 1/D), b_k at 0. The paper's dropout of h_k is left out.
    """

    def __init__(self, place: Place, embedding: Any, *, components: int = 15,
                 inside: Annotated[Choice, PartOf("parts/heads")] = "tied"):
        super().__init__()
        if components < 1:
            raise OptionError("MixtureOfSoftmaxes.components", components, "at least 1", "1 is a single softmax.")
        self.outputs, self.components = place.outputs, components
        self.inside: Any = build("parts/heads", inside, place, embedding)
        if not isinstance(self.inside, Softmax) or self.inside.looks_at_source:
            name = inside if isinstance(inside, str) else inside["name"]
            raise OptionError("MixtureOfSoftmaxes.inside", name, "tied, untied or mlp", "It must score all outputs.")
        self.prior = Linear(place.width, components, bias=False)
        self.latent = Linear(place.width, components * place.width)

    @property
    def scores_of_a_row(self) -> int:
        return self.components * self.outputs

    def summed(self, hidden: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        real, wanted = targets != IGNORED, targets.clamp(min=0)
        if smoothing:
            log_p = self.log_probs(hidden)
            chosen = log_p.gather(1, wanted[:, None])[:, 0]
            return -((1 - smoothing) * chosen + smoothing * log_p.mean(1)).masked_fill(~real, 0.0).sum()
        score_RKV = precise(self.inside.scores(self._latents(hidden)))
        chosen_RK = score_RKV.gather(2, wanted[:, None, None].expand(-1, self.components, 1))[..., 0]
        log_p_R = (self._log_prior(hidden) + chosen_RK - score_RKV.logsumexp(-1)).logsumexp(-1)
        return -log_p_R.masked_fill(~real, 0.0).sum()

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = ()) -> Tensor:
        """One softmax after the other, so that two of them are in memory."""
        found: Any = None
        for prior, latent in zip(self._log_prior(hidden).unbind(-1), self._latents(hidden).unbind(-2), strict=True):
            own = prior[..., None] + self.inside.log_probs(latent, never)
            found = own if found is None else torch.logaddexp(found, own)
        return found

    def _log_prior(self, hidden: Tensor) -> Tensor:
        return F.log_softmax(precise(self.prior(hidden)), dim=-1)

    def _latents(self, hidden: Tensor) -> Tensor:
        """(…, K, D)."""
        return self.latent(hidden).tanh().unflatten(-1, (self.components, -1))
