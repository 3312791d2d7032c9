"""Language modeling: every token is predicted from those before it. Which text is read, whoever computes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.tasks.order import Contiguous, Windows, cut, once


@dataclass(frozen=True)
class Text:
    """A stream of units, each followed by the end id, and the bytes of raw text that it stands for."""

    ids: np.ndarray
    bytes: int | None = None

    @property
    def bytes_per_token(self) -> float | None:
        return self.bytes / len(self.ids) if self.bytes else None


@dataclass(frozen=True)
class Vocabulary:
    """How many tokens there are, and the ids of <s> and </s>."""

    size: int
    start: int
    end: int


@dataclass(frozen=True)
class Batch:
    """(B, T) ids that are read and those that are wanted; `fresh` where no state goes on from the step before."""

    read: Any
    wanted: Any
    fresh: bool = True

    @property
    def tokens(self) -> int:
        return math.prod(self.wanted.shape)

    def __len__(self) -> int:
        return len(self.read)

    def rows(self, begin: int, end: int) -> Batch:
        return Batch(self.read[begin:end], self.wanted[begin:end], self.fresh)


class Language(ABC):
    """−1/T Σ_t ln p(w_t | w_<t); at the beginning of a unit <s> is read in the place of the </s> before it."""

    def __init__(self, text: Text, valid: Text | None, vocabulary: Vocabulary, order: Windows | Contiguous, *,
                 smoothing: float = 0.0, evaluate_tokens: int = 1 << 18,
                 sample: Callable[[Any], list[str]] | None = None):
        self.text, self.valid, self.vocabulary, self.order = text, valid, vocabulary, order
        self.smoothing, self.evaluate_tokens, self._sample = smoothing, evaluate_tokens, sample
        self.carries = isinstance(order, Contiguous)
        self.rows, self.context, self.tokens = order.rows, order.context, len(text.ids)
        self.steps_per_epoch, self.tokens_per_step = order.steps_per_epoch, order.rows * order.context
        self.evaluation_tokens = 0 if valid is None else min(evaluate_tokens, len(valid.ids))

    @abstractmethod
    def loss(self, model: Any, batch: Batch, state: Any) -> tuple[Any, Any]:
        """The sum of the losses of a batch's tokens, and the state after it where it is carried on."""

    @abstractmethod
    def start(self, model: Any, rows: int) -> Any:
        """The state of rows that begin, where one is carried."""

    @abstractmethod
    def measured(self, model: Any, batch: Batch, state: Any) -> tuple[float, Any]:
        """As `loss`, without smoothing and without a way back."""

    @abstractmethod
    def sent(self, ids: np.ndarray, device: Any) -> Any:
        """Ids where the model computes."""

    def batch(self, step: int, device: Any = None) -> Batch:
        """What a step reads."""
        return self._at(self.text.ids, self.order.starts(step), self.order.context, device, self.order.is_fresh(step))

    def bits_per_byte(self, loss: float) -> float | None:
        """Of the text trained on, from nats per token."""
        bytes_per_token = self.text.bytes_per_token
        return loss / math.log(2) / bytes_per_token if bytes_per_token else None

    def samples(self, model: Any) -> list[str]:
        """Texts that the model writes, where somebody has said how."""
        return self._sample(model) if self._sample else []

    def evaluate(self, model: Any, device: Any = None, rows: int | None = None) -> dict[str, float]:
        """Loss in nats per token, and bits per byte, on the text kept aside; {} where there is none."""
        if self.valid is None or not len(self.valid.ids):
            return {}
        total, tokens, state = 0.0, 0, None
        for batch in self._valid_batches(device, rows or self.rows):
            if self.carries and batch.fresh:
                state = self.start(model, len(batch))
            loss, state = self.measured(model, batch, state if self.carries else None)
            total, tokens = total + loss, tokens + batch.tokens
        loss = total / tokens
        bytes_per_token = self.valid.bytes_per_token
        return {"loss": loss} | ({"bits_per_byte": loss / math.log(2) / bytes_per_token} if bytes_per_token else {})

    def _valid_batches(self, device: Any, rows: int) -> Iterator[Batch]:
        """The text kept aside, every token once: in columns where a state is carried, otherwise window by window."""
        assert self.valid is not None
        ids = self.valid.ids[:self.evaluate_tokens]
        for starts, length, fresh in once(len(ids), self.order.context, rows, carries=self.carries):
            yield self._at(ids, starts, length, device, fresh)

    def _at(self, ids: np.ndarray, starts: np.ndarray, length: int, device: Any, fresh: bool) -> Batch:
        read, wanted = cut(ids, starts, length, start=self.vocabulary.start, end=self.vocabulary.end)
        return Batch(self.sent(read, device), self.sent(wanted, device), fresh)
