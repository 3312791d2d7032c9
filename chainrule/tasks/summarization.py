"""Summarization: a text becomes a shorter one, such as a headline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from chainrule.protocols import Translator
from chainrule.recipe.registry import part
from chainrule.tasks._pairs import SequenceToSequence


@part
class Summarization(SequenceToSequence):
    """A text becomes a shorter one, such as a headline.

    −1/T Σ_t ln p(w_t | w_<t, text), the end mark included.

    Rush, Chopra & Weston 2015, arXiv:1509.00685. `model.head=copying` may take words from the text. Measured by ROUGE:
    F of words, of pairs of words and of longest common subsequences.
    """

    ability = Translator
    kind = "summarizer"
    uses = ('translate {run} "a text"', "evaluate {run} --data TEXTS --target SUMMARIES", 'inspect {run} "a text"')
    caution = "It shortens as its training pairs do, and may state what the text does not say."
    measure_name = "rouge_l"

    def __init__(self, *, source: str | int = "source", target: str | int = "target",
                 vocabulary: Literal["shared", "separate"] = "shared", reverse: bool = False):
        super().__init__(source=source, target=target, vocabulary=vocabulary, reverse=reverse)

    def judged(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], draws: int) -> dict[str, Any]:
        from chainrule.evaluation.ranking import Entry, intervals
        from chainrule.evaluation.rouge import NAMES, rouge_table
        from chainrule.recipe.registry import build

        table, measure = rouge_table(hypotheses, references), build("evaluation/measures", self.measure_name)
        found: dict[str, Any] = {name: float(100 * table[:, n].mean()) for n, name in enumerate(NAMES)}
        if draws:
            [interval] = intervals([Entry("", (self.table(hypotheses, references),))], measure, draws=min(draws, 2000))
            found["interval"] = {} if interval is None else {"rougeL": interval}
        return found

    def table(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
        from chainrule.evaluation.rouge import rouge_table

        longest = rouge_table(hypotheses, references)[:, 2]
        return np.stack([longest, np.ones(len(longest))], axis=1)
