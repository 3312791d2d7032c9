"""Training and validation text as a stream of tokens in windows or columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.models.sizes import Sizes
from chainrule.storage.environment import memory
from chainrule.tasks._batch import Batch
from chainrule.tasks._known import Known
from chainrule.tasks._order import Contiguous, Varied, Windows, once

if TYPE_CHECKING:
    from chainrule.jobs import Job
    from chainrule.protocols import Tokenizer

BYTES = 32  # of each token of a batch: input and target as 64-bit numbers, and the places where they were cut
Say = Callable[[str], None]


@dataclass(frozen=True)
class Text:
    """A stream of units, each followed by the end id, and the bytes of raw text that it stands for."""

    ids: np.ndarray
    bytes: int | None = None

    def measured(self, loss: float) -> dict[str, float]:
        """Bits per byte, from nats per token."""
        return {"bits_per_byte": loss / math.log(2) / (self.bytes / len(self.ids))} if self.bytes else {}


@dataclass(frozen=True)
class TextRead:
    """What a task on text has read: the texts to train and to validate on, and how they were cut into tokens."""

    train: Text
    valid: Text | None
    start: int  # the id of <s>
    end: int  # and of </s>
    tokenizer: Tokenizer | None = None
    sizes: Callable[[int], Sizes] = Sizes.of  # of a network for a vocabulary, to which a task may add marks

    @property
    def known(self) -> Known | None:
        """What a run keeps."""
        return None if self.tokenizer is None else Known(self.tokenizer, self.sizes(self.tokenizer.vocabulary_size))

    @property
    def tokens(self) -> int:
        """Of an epoch."""
        return len(self.train.ids)


def read_text(job: Job, sizes: Callable[[int], Sizes] = Sizes.of) -> TextRead:
    """Trains the recipe's tokenizer on the text, and encodes it; a run that training starts from has its tokenizer."""
    from chainrule.recipe.registry import build
    from chainrule.text.encoded import encode, fit_and_encode

    recipe = job.recipe
    assert job.corpus is not None
    if job.start is not None:
        tokenizer = job.start.tokenizer
        encoded = encode(job.corpus, tokenizer, recipe.text)
    else:
        tokenizer, encoded = fit_and_encode(job.corpus, build("text/tokenizers", recipe.tokenizer), recipe.text)
    valid = None if job.valid is None else encode(job.valid, tokenizer, recipe.text)
    return TextRead(Text(encoded.ids, int(encoded.bytes.sum())),
                    None if valid is None else Text(valid.ids, int(valid.bytes.sum())),
                    tokenizer.start, tokenizer.end, tokenizer, sizes)


class TextBatches:
    """A text in training order; `cut` makes a batch of the stretches that begin at given places."""

    def __init__(self, read: TextRead, order: Windows | Contiguous, cut: Callable[..., Batch], *,
                 evaluate_tokens: int = 1 << 18, predicts_text: bool = True):
        self.text, self.valid, self.known = read.train, read.valid, read.known
        self.order, self.cut, self.evaluate_tokens, self.predicts_text = order, cut, evaluate_tokens, predicts_text
        self.carries, self.fixed = isinstance(order, Contiguous), not isinstance(order, Varied)
        self.rows, self.context, self.tokens = order.rows, order.context, len(read.train.ids)
        self.steps_per_epoch, self.tokens_per_step = order.steps_per_epoch, order.tokens_per_step
        self.evaluation_tokens = 0 if self.valid is None else min(evaluate_tokens, len(self.valid.ids))

    def batch(self, step: int) -> Batch:
        found = self.cut(self.text.ids, self.order.starts(step), self.order.length_of(step), step,
                         fresh=self.order.is_fresh(step))
        return replace(found, pace=self.order.pace(step))

    def validation(self, rows: int) -> Iterator[Batch]:
        """Every token once: in columns where a state is carried, otherwise window by window."""
        if self.valid is None or not len(self.valid.ids):
            return
        ids = self.valid.ids[:self.evaluate_tokens]
        for number, (starts, length, fresh) in enumerate(once(len(ids), self.order.context, rows,
                                                              carries=self.carries)):
            yield self.cut(ids, starts, length, -1 - number, fresh=fresh)

    def measured(self, loss: float) -> Mapping[str, float]:
        """Bits per byte, where every token of the text is predicted."""
        return self.text.measured(loss) if self.predicts_text else {}

    def measured_in_validation(self, loss: float) -> Mapping[str, float]:
        return self.valid.measured(loss) if self.predicts_text and self.valid is not None else {}


def text_batches(read: TextRead, network: Any, plan: Any, say: Say, cut: Callable[..., Batch], *,
                 predicts_text: bool = True) -> TextBatches:
    """The batches of a text for a network and a plan: windows or columns, smaller ones if the text is short."""
    order = _order(network, plan, len(read.train.ids), say)
    if plan.batch_tokens is not None:
        say(f"training.batch_tokens does nothing: every row of a batch has model.context = {order.context} tokens.")
    asked = {"patience": plan.patience, "schedule=plateau": _names(plan.schedule, "plateau"),
             "optimizer=ntasgd": _names(plan.optimizer, "ntasgd")}
    watches = [name for name, given in asked.items() if given]
    if watches and read.valid is None:
        say(f"training.{watches[0]} does nothing without validation text: give --valid, or split.valid=0.1.")
    return TextBatches(read, order, cut, evaluate_tokens=plan.evaluate_tokens, predicts_text=predicts_text)


def _order(network: Any, plan: Any, tokens: int, say: Say) -> Windows | Contiguous:
    """The order of a text; a text that is too short for the context or the batch reduces them."""
    context, rows = network.shape.context, plan.batch
    if not tokens:
        raise DataError("the text to train on has no tokens.")
    if tokens < context:
        say(f"the text has {_counted(tokens)}, fewer than model.context = {context}: it is read in windows of "
            f"{tokens}.")
        context = tokens
    contiguous = _reads_on(network, plan.reading)
    if contiguous and rows > max(1, tokens // context):
        rows = max(1, tokens // context)
        say(f"the text has {_counted(tokens)}, too few for {plan.batch} rows of {context}: training.batch is {rows}.")
    _check_memory(rows, context)
    order = Varied if plan.reading == "varied" else Contiguous if contiguous else Windows
    return order(tokens, context, rows, plan.seed)


def _check_memory(rows: int, context: int) -> None:
    """Refuses a batch whose token ids alone fill the memory: full memory would end other programs."""
    most = memory() // (2 * BYTES * context)
    if rows > most:
        raise OptionError("training.batch", rows, f"at most {most:,} rows of {context:,} tokens",
                          f"This machine has {memory() / 1e9:,.0f} GB of memory.")


def _reads_on(network: Any, mode: str) -> bool:
    """Whether the state is carried from batch to batch; `auto` does so for recurrent networks."""
    able = not network.bounded and network.shape.causal
    if mode in ("contiguous", "varied") and not able:
        raise OptionError("training.reading", mode, "'windows' for attention, learned positions, and reading both ways",
                          "Only recurrent, convolution and window sublayers carry their state on.")
    return mode in ("contiguous", "varied") or (mode == "auto" and able and network.recurrent)


def _counted(tokens: int) -> str:
    return f"{tokens:,} token{'s' * (tokens != 1)}"


def _names(choice: Any, part: str) -> bool:
    return (choice if isinstance(choice, str) else choice.get("name")) == part
