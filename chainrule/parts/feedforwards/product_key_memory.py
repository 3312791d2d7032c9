"""A product-key memory: each token fetches a few of very many learned vectors, found by two short lists of keys."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.feedforwards._pointwise import Pointwise
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part
from chainrule.watching import note


@part
class ProductKeyMemory(Pointwise):
    r"""Each token fetches a few of very many learned vectors, by keys that are pairs of keys from two short lists.

    y = Σ_heads Σ_{ij ∈ top k} softmax(s_ij) v_ij,   s_ij = q¹·c¹_i + q²·c²_j,   (q¹, q²) = halves of norm(W x)

    Lample et al. 2019, arXiv:1907.05242, §3.1 and §3.2. `keys` is the length of each list, so there are keys² vectors
    v; the best k pairs are among the k² pairs of the best k of each list. Heads have lists of their own and share the
    vectors. Departure: queries pass a layer norm in the place of batch norm, which would let rows depend on each other.
    W starts as N(0, 1/D), keys as U(±1/√(half a query)), vectors as N(0, 1/(D · depth)).
    """

    def __init__(self, place: Place, *, keys: int = 128, heads: int = 4, chosen: int = 32, query: int | None = None):
        super().__init__()
        query = max(2, place.width // 2 * 2) if query is None else query
        for name, value, least in (("keys", keys, 1), ("heads", heads, 1), ("query", query, 2)):
            if value < least:
                raise OptionError(f"ProductKeyMemory.{name}", value, f"at least {least}")
        if query % 2:
            raise OptionError("ProductKeyMemory.query", query, "an even number", "Each list of keys sees half of it.")
        if not 1 <= chosen <= keys:
            raise OptionError("ProductKeyMemory.chosen", chosen, f"1 to keys = {keys}")
        self.heads, self.chosen, self.size = heads, chosen, keys
        self.inward = Linear(place.width, heads * query, bias=False)
        self.gain, self.bias = nn.Parameter(torch.ones(heads * query)), nn.Parameter(torch.zeros(heads * query))
        self.keys = nn.Parameter(torch.empty(2, heads, keys, query // 2).uniform_(-1, 1) / math.sqrt(query // 2))
        self.values = nn.Parameter(torch.randn(keys * keys, place.width) / math.sqrt(place.width * place.depth))

    def stream_weights(self) -> list[Tensor]:
        """What is added to the stream: the vectors."""
        return [self.values]

    def through(self, x: Tensor) -> Tensor:
        q = self.inward(x).unflatten(-1, (self.heads, -1))
        q = F.layer_norm(q, q.shape[-1:]).flatten(-2) * self.gain + self.bias
        best, which = self.found(q.to(x.dtype).unflatten(-1, (self.heads, -1)))
        weights = best.softmax(-1, dtype=torch.promote_types(best.dtype, torch.float32))
        note("memory", weights.flatten(-2))
        y = F.embedding_bag(which.view(-1, self.heads * self.chosen), self.values, mode="sum",
                            per_sample_weights=weights.view(-1, self.heads * self.chosen).to(self.values.dtype))
        return y.view_as(x).to(x.dtype)

    def found(self, q: Tensor) -> tuple[Tensor, Tensor]:
        """Scores and numbers of the best keys of each head, (…, H, k)."""
        halves = zip(q.chunk(2, dim=-1), self.keys, strict=True)
        (one, i), (other, j) = (torch.einsum("...he,hne->...hn", half, keys).topk(self.chosen) for half, keys in halves)
        pairs = (one[..., :, None] + other[..., None, :]).flatten(-2)
        best, at = pairs.topk(self.chosen)
        first, second = at // self.chosen, at % self.chosen
        return best, i.gather(-1, first) * self.size + j.gather(-1, second)
