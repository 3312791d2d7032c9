"""Language modeling for the engine: batches, loss and evaluation in NumPy, in the same order as for torch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.engine import Tensor, untaped
from chainrule.engine.modules.softmax_cross_entropy import SoftmaxCrossEntropy
from chainrule.tasks.order import Contiguous, Windows, cut, once


@dataclass(frozen=True)
class Stream:
    """A stream of units, each followed by the end id, and the bytes of raw text that it stands for."""

    ids: np.ndarray
    bytes: int

    def bits_per_byte(self, loss: float) -> float | None:
        """From nats per token."""
        return loss / math.log(2) * len(self.ids) / self.bytes if self.bytes else None


class EngineLanguage:
    """−1/T Σ_t ln p(w_t | w_<t); at the beginning of a unit <s> is read in the place of the </s> before it."""

    def __init__(self, text: Stream, valid: Stream | None, marks: tuple[int, int], order: Windows | Contiguous, *,
                 evaluate_tokens: int = 1 << 18):
        self.text, self.valid, self.order, self.evaluate_tokens = text, valid, order, evaluate_tokens
        self.start, self.end = marks
        self.carries = isinstance(order, Contiguous)
        self.rows, self.context, self.tokens = order.rows, order.context, len(text.ids)
        self.steps_per_epoch, self.tokens_per_step = order.steps_per_epoch, order.rows * order.context
        self.evaluation_tokens = 0 if valid is None else min(evaluate_tokens, len(valid.ids))
        self._loss = SoftmaxCrossEntropy()

    def loss(self, stack: Any, step: int, states: Any) -> tuple[Tensor, Any]:
        """The mean loss of what a step reads, and the states after it where they are carried on."""
        read, wanted = self._cut(self.text.ids, self.order.starts(step), self.context)
        if not self.carries or self.order.is_fresh(step):
            states = None
        hidden, after = stack(read, states)
        return self._loss(stack.head(hidden), wanted), after if self.carries else None

    def evaluate(self, stack: Any) -> dict[str, float]:
        """Loss in nats per token, and bits per byte, on the text kept aside; {} where there is none."""
        if self.valid is None or not len(self.valid.ids):
            return {}
        ids, total, states = self.valid.ids[:self.evaluate_tokens], 0.0, None
        with untaped():
            for starts, length, fresh in once(len(ids), self.context, self.rows, carries=self.carries):
                read, wanted = self._cut(ids, starts, length)
                hidden, states = stack(read, None if fresh or not self.carries else states)
                total += self._loss(stack.head(hidden), wanted).item() * wanted.size
        loss = total / len(ids)
        bits = self.valid.bits_per_byte(loss)
        return {"loss": loss} | ({} if bits is None else {"bits_per_byte": bits})

    def _cut(self, ids: np.ndarray, starts: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
        return cut(ids, starts, length, start=self.start, end=self.end)
