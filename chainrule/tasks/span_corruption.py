"""Span corruption: stretches of a text are cut out, and written again from what is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.errors import OptionError
from chainrule.models.sizes import Sizes
from chainrule.protocols import Filler
from chainrule.recipe.registry import part
from chainrule.task_protocols import Small
from chainrule.tasks._batch import Batch
from chainrule.tasks._known import Known
from chainrule.tasks._order import generator
from chainrule.tasks._task import Learned, refuse_target
from chainrule.tasks._text import Say, TextBatches, TextRead, read_text, text_batches

if TYPE_CHECKING:
    from pathlib import Path

    from chainrule.contests import Contest
    from chainrule.evaluation.options import Measuring
    from chainrule.jobs import Job

STREAM = 0x7370616E  # so that spans and the order of the text use different random numbers
SENTINELS = 100  # marks for spans: tokens behind the tokenizer's own


@part
class SpanCorruption(Learned):
    r"""Stretches of a text are cut out, and written again from what is left.

    source: Thank you ⟨0⟩ me to your party ⟨1⟩ week      target: ⟨0⟩ for inviting ⟨1⟩ last </s>
    −1/T Σ_t ln p(w_t | w_<t, source)   over the tokens of the target

    Raffel et al. 2020 (T5), arXiv:1910.10683, §3.1.4: a share of `rate` of all tokens is cut out, in spans of `span`
    tokens on average; how many there are of each is the same in every window. The sentinels ⟨k⟩ are 100 tokens more
    than the tokenizer has.
    """

    ability = Filler
    kind = "span-filling language model"
    uses = ('fill {run} "The [MASK] sat on the mat"', "evaluate {run} --data SPEC")
    caution = "It writes what its training text would have, including that text's mistakes and prejudices."
    causal = True
    ranking_note = ("the same 15 % of the held-out tokens are cut out for every model, in spans of 3 on average; nats "
                    "per token only compare models with the same tokenizer.")

    def __init__(self, *, rate: float = 0.15, span: float = 3.0):
        if not 0 < rate < 1:
            raise OptionError("task.rate", rate, "between 0 and 1")
        if not 1 <= span < float("inf"):
            raise OptionError("task.span", span, "at least 1")
        self.rate, self.span = rate, span

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Sizes:
        return Sizes(vocabulary + SENTINELS, vocabulary + SENTINELS, source=Sizes.of(vocabulary + SENTINELS))

    def small(self, folder: Path) -> Small:
        text = super().small(folder)
        return Small(text.data, recipe={"model": {"pattern": "sxf", "source": {"pattern": "sf", "width": 16}}})

    def read(self, job: Job) -> TextRead:
        if job.recipe.model.source is None:
            raise OptionError("model.source", None, "a stack that reads what is left of the text, such as {pattern: "
                              "(sf)*2}")
        return read_text(job, sizes=self.sizes)

    def training_data(self, read: TextRead, network: Any, plan: Any, say: Say) -> TextBatches:
        assert read.tokenizer is not None
        return text_batches(read, network.source, plan, say, Cutting(self, read.tokenizer, plan.seed),
                            predicts_text=False)

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        hidden, _ = network(batch.inputs, given=batch.given)
        return network.head.loss(hidden, batch.targets, smoothing=smoothing), batch.count, None

    def validate(self, network: Any, batches: Iterator[Batch]) -> dict[str, float]:
        total, count = 0.0, 0
        for batch in batches:
            loss, targets, _ = self.loss(network, batch)
            total, count = total + float(loss), count + targets
        return {"loss": total / count} if count else {}

    def model(self, network: Any, known: Known) -> Filler:
        from chainrule.models.span_filler import SpanFiller

        assert known.tokenizer is not None
        return SpanFiller(network, known.tokenizer)

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        from chainrule.tasks._held_out_tokens import batches, figures
        from chainrule.text.corpora import open_corpus
        from chainrule.text.encoded import encode

        model: Any = run.offering(Filler, "evaluate")
        encoded = encode(open_corpus(data, run.recipe.text), run.tokenizer, run.recipe.text)
        cut = batches(encoded.ids, self.window(run.recipe), Cutting(self, run.tokenizer, how.seed))
        return {"tokens": len(encoded.ids), "written": sum(batch.count for batch in cut),
                **figures(model.answered(self, cut), how)}

    def answered(self, network: Any, batch: Batch) -> np.ndarray:
        """(B, 3): nats, written tokens and right ones, each given those before it, of each window."""
        from chainrule.tasks._held_out_tokens import of_windows

        hidden, _ = network(batch.inputs, given=batch.given)
        rows = (batch.targets == batch.targets).nonzero()[:, 0]  # every token of the target is to be written
        return of_windows(network.head.log_probs(hidden.flatten(0, 1)), batch.targets.flatten(), rows, len(batch))

    @staticmethod
    def window(recipe: Any) -> int:
        """Tokens that are read together."""
        return recipe.model.source.context

    @staticmethod
    def hiding(tokenizer: Any, seed: int) -> Cutting:
        """What `compare` cuts out for every model, however it was trained."""
        return Cutting(SpanCorruption(), tokenizer, seed)

    def reading(self, recipe: Any) -> dict[str, Any]:
        return {"tokenizer": recipe.tokenizer, "model.source.context": self.window(recipe),
                "training.patience": recipe.training.patience}

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """On spans cut out of a text: `tasks._held_out_tokens`."""
        from chainrule.tasks._held_out_tokens import HeldOutTokens

        refuse_target(self, targets[0] or targets[1])
        return HeldOutTokens(self, recipe, (data, valid), fraction, seed)


class Cutting:
    """Stretches of a text with spans cut out: a function of the seed and the batch's number."""

    def __init__(self, task: SpanCorruption, tokenizer: Any, seed: int):
        self.task, self.seed, self.tokenizer = task, seed, tokenizer

    def __call__(self, ids: np.ndarray, starts: np.ndarray, length: int, number: int, *, fresh: bool) -> Batch:
        draw = generator(self.seed ^ STREAM, number % 2**64)
        whole = ids[starts[:, None] + np.arange(length)].astype(np.int64)
        rows = [self._cut(row, draw) for row in whole]
        source, target = (np.stack(each) for each in zip(*rows, strict=True))
        begin = np.full((len(target), 1), self.tokenizer.start)
        return Batch(np.concatenate([begin, target[:, :-1]], axis=1), target, target.size, fresh, source=source)

    def _cut(self, row: np.ndarray, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """What is left, with a sentinel for each span; and each sentinel with its span, then the end mark."""
        lengths = span_lengths(len(row), self.task.rate, self.task.span, draw)
        ends = np.cumsum(lengths)
        source, target = [], []
        for n in range(len(lengths) // 2):
            kept, cut = row[ends[2 * n] - lengths[2 * n]:ends[2 * n]], row[ends[2 * n]:ends[2 * n + 1]]
            sentinel = np.array([self.tokenizer.vocabulary_size + n])
            source += [kept, sentinel]
            target += [sentinel, cut]
        return np.concatenate(source), np.concatenate([*target, [self.tokenizer.end]])


def span_lengths(tokens: int, rate: float, span: float, draw: np.random.Generator) -> np.ndarray:
    """(2 n,): tokens that are kept, cut out, kept, …; there are n spans, and their sum is always the same."""
    cut = max(1, min(round(tokens * rate), tokens - 1))
    count = max(1, min(round(cut / span), cut, tokens - cut, SENTINELS))
    kept, gone = (_parts(total, count, draw) for total in (tokens - cut, cut))
    return np.stack([kept, gone], axis=1).ravel()


def _parts(total: int, count: int, draw: np.random.Generator) -> np.ndarray:
    """A number as a sum of `count` numbers of at least 1, every way equally likely."""
    if count == 1:
        return np.array([total])
    bounds = np.sort(draw.choice(total - 1, count - 1, replace=False)) + 1
    return np.diff(np.concatenate([[0], bounds, [total]]))
