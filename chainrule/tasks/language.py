"""Language modeling: every token is predicted from those before it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.protocols import LanguageModel
from chainrule.recipe.registry import part
from chainrule.tasks._batch import Batch
from chainrule.tasks._known import Known
from chainrule.tasks._order import cut
from chainrule.tasks._task import Learned
from chainrule.tasks._text import Say, TextBatches, TextRead, read_text, text_batches

if TYPE_CHECKING:
    from chainrule.evaluation.options import Measuring
    from chainrule.jobs import Job

SAMPLE = 60  # tokens written at each evaluation


@part
class Language(Learned):
    """Every token is predicted from those before it.

    −1/T Σ_t ln p(w_t | w_<t); at the beginning of a unit <s> is read in the place of the </s> before it.
    """

    ability = LanguageModel
    kind = "language model"
    uses: tuple[str, ...] = ("evaluate {run} --data SPEC", 'generate {run} --prompt "..."')
    caution = ("It repeats and completes what was in its training text, including that text's mistakes and private "
               "details.")
    causal = True

    def read(self, job: Job) -> TextRead:
        return read_text(job)

    def training_data(self, read: TextRead, network: Any, plan: Any, say: Say) -> TextBatches:
        return text_batches(read, network, plan, say, partial(next_tokens, start=read.start, end=read.end))

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        hidden, after = network(batch.inputs, batch.state)
        return network.head.loss(hidden, batch.targets, smoothing=smoothing), batch.count, after

    def validate(self, network: Any, batches: Iterator[Batch]) -> dict[str, float]:
        total, count, state = 0.0, 0, None
        for batch in batches:
            loss, targets, state = self.loss(network, batch.going_on(state))
            total, count = total + loss.item(), count + targets
        return {"loss": total / count} if count else {}

    def samples(self, network: Any, known: Known) -> list[str]:
        from chainrule.generation.generate import generate

        assert known.tokenizer is not None
        return [each.text for each in generate(self.model(network, known), known.tokenizer, max_tokens=SAMPLE)]

    def model(self, network: Any, known: Known) -> LanguageModel:
        assert known.tokenizer is not None
        return network.language_model(known.tokenizer.start)

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        from chainrule.evaluation import by_order as orders
        from chainrule.evaluation.characters import characters
        from chainrule.evaluation.evaluate import evaluate
        from chainrule.text.corpora import open_corpus
        from chainrule.text.corpora.strands import has_bases
        from chainrule.text.encoded import encode
        from chainrule.text.units import unit_of

        model, tokenizer, text = run.offering(LanguageModel, "evaluate"), run.tokenizer, run.recipe.text
        corpus = open_corpus(data, text)
        encoded = encode(corpus, tokenizer, text)
        unit, count = unit_of(text, keeps_space=tokenizer.keeps_space), None
        if how.characters:
            count = characters(corpus, encoded)
        found = evaluate(model, tokenizer, encoded, unit=unit, bootstrap=how.bootstrap, seed=how.seed, characters=count)
        if has_bases(corpus):  # every byte is a base
            found["bits_per_base"] = found["bits_per_byte"]
            if found["interval"]:
                found["interval"]["bits_per_base"] = found["interval"]["bits_per_byte"]
        return found | ({"by_order": orders.by_order(model, tokenizer, encoded)} if how.by_order else {})


def next_tokens(ids: np.ndarray, starts: np.ndarray, length: int, number: int, *, start: int, end: int, fresh: bool
                ) -> Batch:
    """Stretches of a text as inputs, and each next token as target."""
    return Batch.of(*cut(ids, starts, length, start=start, end=end), fresh=fresh)
