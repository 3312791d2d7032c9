"""Linformer: keys and values are projected along time to a fixed number of rows."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.attention._dot_product import attend
from chainrule.parts.attention._masks import refuse_bias
from chainrule.parts.attention._scored import for_each_head
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import part
from chainrule.watching import placed


@part
class Linformer(nn.Module):
    r"""Keys and values are projected along time to `rows` of each: the cost grows with the text, not with its square.

    y_i = Σ_r softmax_r(q_i·k′_r / √E) v′_r,   k′_r = Σ_j A_rj k_j,   v′_r = Σ_j B_rj v_j

    Wang et al. 2020, arXiv:2006.04768, §4. It reads both ways, at most `model.context` positions: a projected row is
    made of all keys. `shared` is what has one matrix: none (A and B for each head), heads (A and B for all heads), or
    all (A = B for all heads). A shorter text takes the first columns, padding counts as 0. A and B start as
    N(0, 1/context), so that a row is as large as a key; the paper has N(0, 1/rows).
    """

    reads = "both ways"
    memory: int | None = None  # all keys can be seen
    small = {"rows": 5}  # to be tried on a short text

    def __init__(self, place: Place, *, rows: int = 64, shared: Literal["none", "heads", "all"] = "none"):
        super().__init__()
        if rows < 1:
            raise OptionError("Linformer.rows", rows, "at least 1")
        self.context, self.dropout = place.context, place.dropout
        heads = place.heads if shared == "none" else 1
        count = 1 if shared == "all" else 2
        self.weight = nn.Parameter(torch.randn(count, heads, rows, place.context) * place.context**-0.5)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor, reading: Reading) -> Tensor:
        refuse_bias(reading, "linformer")
        if k.shape[2] > self.context:
            raise OptionError("model.context", self.context, f"at least {k.shape[2]}, the positions that are read",
                              "linformer has a column for each position.")
        real = reading.real(k.shape[2])
        if real is not None:
            k, v = (each * real[:, None, :, None] for each in (k, v))
        if self.weight.shape[1] > 1:
            k, v = (for_each_head(each, q.shape[1]) for each in (k, v))
        k, v = (weight[..., :k.shape[2]] @ each for weight, each in zip((self.weight[0], self.weight[-1]), (k, v),
                                                                         strict=True))
        dropout = self.dropout if self.training else 0.0
        return placed("over rows", lambda: attend(q, k, v, None, causal=False, dropout=dropout))
