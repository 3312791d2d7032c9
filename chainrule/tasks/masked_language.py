"""Masked language modeling: hidden tokens are guessed from what stands on both sides of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chainrule.errors import OptionError
from chainrule.models.sizes import Sizes
from chainrule.protocols import Filler, Tokenizer
from chainrule.recipe.registry import part
from chainrule.tasks._batch import IGNORED, Batch
from chainrule.tasks._hiding import spans, tokens_alone, whole_words, word_beginnings
from chainrule.tasks._known import Known
from chainrule.tasks._order import generator
from chainrule.tasks._task import Learned, refuse_target
from chainrule.tasks._text import Say, TextBatches, TextRead, read_text, text_batches

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.evaluation.options import Measuring
    from chainrule.jobs import Job

STREAM = 0x6D61736B  # so that masks and the order of the text use different random numbers


@part
class MaskedLanguage(Learned):
    r"""Hidden tokens are guessed from what stands on both sides of them.

    −1/|M| Σ_{t ∈ M} ln p(w_t | the text with the tokens of M hidden),   M: `rate` of all tokens, drawn at random

    Devlin et al. 2019, arXiv:1810.04805, §3.1: of the tokens of M a share of `masked` is read as [MASK], a share of
    `replaced` as a random token, and the others as they are. `hidden` says what is drawn: single tokens, whole words,
    or spans of 1 to 10 tokens whose lengths are geometric with p = 0.2 (Joshi et al. 2020, SpanBERT, arXiv:1907.10529,
    §3.1). Marks of units are not hidden. [MASK] is one token more than the tokenizer has. T5's spans, each of which
    becomes one mark, are the task `span_corruption`.
    """

    ability = Filler
    kind = "masked language model"
    uses = ('fill {run} "The [MASK] sat on the mat"', "evaluate {run} --data SPEC", "score {run} FILE")
    caution = "It predicts what its training text would have, including that text's mistakes and prejudices."
    causal = False
    loss_per = "hidden token"
    ranking_note = ("the same 15 % of the held-out tokens are hidden from every model, all as [MASK]; nats per token "
                    "only compare models with the same tokenizer.")

    def __init__(self, *, rate: float = 0.15, masked: float = 0.8, replaced: float = 0.1,
                 hidden: Literal["tokens", "words", "spans"] = "tokens"):
        if not 0 < rate < 1:
            raise OptionError("task.rate", rate, "between 0 and 1")
        if min(masked, replaced) < 0 or masked + replaced > 1:
            raise OptionError("task.masked, task.replaced", (masked, replaced), "shares that sum to at most 1")
        self.rate, self.masked, self.replaced, self.hidden = rate, masked, replaced, hidden

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Sizes:
        return Sizes.of(vocabulary + 1)

    def read(self, job: Job) -> TextRead:
        return read_text(job, sizes=self.sizes)

    def training_data(self, read: TextRead, network: Any, plan: Any, say: Say) -> TextBatches:
        assert read.tokenizer is not None
        return text_batches(read, network, plan, say, Hiding(self, read.tokenizer, plan.seed), predicts_text=False)

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        hidden, wanted = self._hidden(network, batch)
        return network.head.loss(hidden, wanted, smoothing=smoothing), batch.count, None

    def validate(self, network: Any, batches: Iterator[Batch]) -> dict[str, float]:
        total, right, count = 0.0, 0, 0
        for batch in batches:
            hidden, wanted = self._hidden(network, batch)
            log_p = network.head.log_probs(hidden)
            total -= float(log_p.gather(-1, wanted[:, None]).sum())
            right += int((log_p.argmax(-1) == wanted).sum())
            count += batch.count
        return {"loss": total / count, "accuracy": right / count} if count else {}

    def _hidden(self, network: Any, batch: Batch) -> tuple[Any, Any]:
        """The vectors of hidden tokens alone (R, D), and what they are (R,)."""
        hidden, _ = network(batch.inputs)
        wanted = batch.targets.flatten()
        places = (wanted != IGNORED).nonzero()[:, 0]
        return hidden.flatten(0, 1)[places], wanted[places]

    def model(self, network: Any, known: Known) -> Filler:
        from chainrule.models.masked import MaskedModel

        assert known.tokenizer is not None
        return MaskedModel(network, known.tokenizer)

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        from chainrule.tasks._held_out_tokens import batches, figures
        from chainrule.text.corpora import open_corpus
        from chainrule.text.encoded import encode

        model: Any = run.offering(Filler, "evaluate")
        encoded = encode(open_corpus(data, run.recipe.text), run.tokenizer, run.recipe.text)
        hidden = batches(encoded.ids, self.window(run.recipe), Hiding(self, run.tokenizer, how.seed))
        return {"tokens": len(encoded.ids), "masked": sum(batch.count for batch in hidden),
                **figures(model.answered(self, hidden), how)}

    def answered(self, network: Any, batch: Batch) -> np.ndarray:
        """(B, 3): nats, hidden tokens and right guesses of each window."""
        from chainrule.tasks._held_out_tokens import of_windows

        hidden, wanted = self._hidden(network, batch)
        rows = (batch.targets != IGNORED).nonzero()[:, 0]
        return of_windows(network.head.log_probs(hidden), wanted, rows, len(batch))

    @staticmethod
    def window(recipe: Any) -> int:
        """Tokens that are read together."""
        return recipe.model.context

    @staticmethod
    def hiding(tokenizer: Tokenizer, seed: int) -> Hiding:
        """What `compare` hides from every model, however it was trained."""
        return Hiding(MaskedLanguage(masked=1.0, replaced=0.0), tokenizer, seed)

    def reading(self, recipe: Any) -> dict[str, Any]:
        return {"tokenizer": recipe.tokenizer, "model.context": recipe.model.context,
                "training.patience": recipe.training.patience}

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """On hidden tokens of a text: `tasks._held_out_tokens`."""
        from chainrule.tasks._held_out_tokens import HeldOutTokens

        refuse_target(self, targets[0] or targets[1])
        return HeldOutTokens(self, recipe, (data, valid), fraction, seed)


class Hiding:
    """Stretches of a text with some of their tokens hidden: a function of the seed and the batch's number."""

    def __init__(self, task: MaskedLanguage, tokenizer: Tokenizer, seed: int):
        self.task, self.seed, self.mask = task, seed, tokenizer.vocabulary_size
        self.marks = [tokenizer.start, tokenizer.end]
        self.usual = np.setdiff1d(np.arange(tokenizer.vocabulary_size), self.marks)
        self.draws: Callable[..., np.ndarray] = spans if task.hidden == "spans" else tokens_alone
        if task.hidden == "words":
            self.draws = partial(whole_words, begins=word_beginnings(tokenizer))

    def __call__(self, ids: np.ndarray, starts: np.ndarray, length: int, number: int, *, fresh: bool) -> Batch:
        draw = generator(self.seed ^ STREAM, number % 2**64)
        whole = ids[starts[:, None] + np.arange(length)].astype(np.int64)
        able = ~np.isin(whole, self.marks)
        able = able if able.any() else np.ones_like(able)
        hidden = self.draws(whole, able, self.task.rate, draw)
        how = draw.random(whole.shape)
        read = np.where(hidden & (how < self.task.masked), self.mask, whole)
        other = hidden & (how >= self.task.masked) & (how < self.task.masked + self.task.replaced)
        read = np.where(other, draw.choice(self.usual, whole.shape), read)
        return Batch.of(read, np.where(hidden, whole, IGNORED), fresh=fresh)
