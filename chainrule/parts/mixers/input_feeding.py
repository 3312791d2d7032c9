"""An LSTM that attends to a source at every step, and is fed what it saw at the step before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError, UsageError
from chainrule.parts.linear import Linear
from chainrule.parts.losses import add_loss
from chainrule.parts.mixers._source import NO_SOURCE
from chainrule.parts.mixers.lstm import LSTMCell, LSTMState
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part
from chainrule.watching import note, placed, watched


@dataclass(frozen=True)
class Fed:
    """(B, D) each: the LSTM's state and what it is fed; (B, S, D) keys of the source, its lengths, its coverage (B, S).
    """

    h: Tensor
    c: Tensor
    fed: Tensor
    keys: Tensor
    lengths: Tensor
    coverage: Tensor


@part
class InputFeeding(nn.Module):
    r"""An LSTM that looks at the source after each token, and reads what it saw beside the next.

    h_t = LSTM([x_t; h̃_{t−1}], h_{t−1}),   c_t = Σ_s α_ts s_s,   h̃_t = tanh(W [h_t; c_t]),   y_t = h̃_t

    Luong, Pham & Manning 2015, arXiv:1508.04025, §3.3; `attend` says how α is computed: additive, dot, general, full
    (scaled), mlp_score. With `coverage` λ the loss of a token grows by λ Σ_s min(α_ts, Σ_{t′<t} α_t′s), so that it
    rather looks at what was not looked at yet (See, Liu & Manning 2017, arXiv:1704.04368, eq. 12).
    """

    reads = "causal"
    bounded = True  # it looks at a source of a certain length
    needs_source, recurrent = True, True

    def __init__(self, place: Place, *, attend: Annotated[Choice, PartOf("parts/attention")] = "additive",
                 coverage: float = 0.0, forget: float = 1.0):
        super().__init__()
        if coverage < 0:
            raise OptionError("InputFeeding.coverage", coverage, "0 or more")
        width = place.width
        self.width, self.coverage = width, coverage
        self.cell = LSTMCell(2 * width, width, forget, width**-0.5)
        self.inward = Linear(place.source_width or width, width, bias=False)
        self.outward = Linear(2 * width, width, bias=False)
        self.attend: Any = build("parts/attention", attend, replace(place, heads=1, causal=False, dropout=0.0))

    def start(self, batch: int, room: int, like: Tensor) -> Fed:
        zero = like.new_zeros(batch, self.width)
        return Fed(zero, zero, zero, like.new_zeros(batch, 0, self.width),
                   torch.zeros(batch, dtype=torch.long, device=like.device), like.new_zeros(batch, 0))

    def forward(self, x: Tensor, state: Fed | None, reading: Reading) -> tuple[Tensor, Fed | None]:
        now = state if state is not None and state.keys.shape[1] else self._begun(x, state, reading)
        look = replace(reading, lengths=now.lengths, causal=False, position=None, memo={})
        found, weights, repeated = [], [], []
        for token in x.unbind(1):
            after, _ = self.cell.step(self.cell.project(torch.cat([token, now.fed], dim=-1)), LSTMState(now.h, now.c))
            seen_BS = self._weights(after.h, now.keys, look)
            context = torch.einsum("bs,bsd->bd", seen_BS, now.keys)
            fed = self.outward(torch.cat([after.h, context], dim=-1)).tanh()
            repeated.append(torch.minimum(seen_BS, now.coverage).sum(-1))
            now = replace(now, h=after.h, c=after.c, fed=fed, coverage=now.coverage + seen_BS)
            found.append(fed)
            weights.append(seen_BS)
        self._add_coverage(repeated, reading)
        if watched() and weights:
            placed("over source", note, "attention", torch.stack(weights, dim=1)[:, None])
        y = torch.stack(found, dim=1) if found else x.new_zeros(len(x), 0, self.width)
        return y, None if state is None else now

    def _begun(self, x: Tensor, state: Fed | None, reading: Reading) -> Fed:
        if reading.source is None:
            raise UsageError(NO_SOURCE)
        keys, lengths = self.inward(reading.source), reading.source_lengths
        if lengths is None:
            lengths = torch.full((len(keys),), keys.shape[1], dtype=torch.long, device=keys.device)
        begun = state or self.start(len(x), 1, x)
        return replace(begun, keys=keys, lengths=lengths, coverage=keys.new_zeros(keys.shape[:2]))

    def _weights(self, h: Tensor, keys: Tensor, look: Reading) -> Tensor:
        """(B, S): α, as the part gives it where the value of each key is a vector of its own."""
        places = torch.arange(keys.shape[1], device=keys.device)[None]
        each = torch.eye(keys.shape[1], dtype=keys.dtype, device=keys.device).expand(len(keys), 1, -1, -1)
        return self.attend(h[:, None, None], keys[:, None], each, places[:, :1], places, look)[:, 0, 0]

    def _add_coverage(self, repeated: list[Tensor], reading: Reading) -> None:
        if not self.coverage or not repeated or not self.training:
            return
        lost_BT = torch.stack(repeated, dim=1)
        real = reading.real(lost_BT.shape[1])
        kept = lost_BT if real is None else lost_BT.masked_fill(~real, 0.0)
        add_loss("coverage", self.coverage * kept.sum() / (kept.numel() if real is None else real.sum().clamp(min=1)))
