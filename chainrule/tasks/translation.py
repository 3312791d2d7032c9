"""Translation: a text becomes a text in another language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from chainrule.protocols import Translator
from chainrule.recipe.registry import part
from chainrule.tasks._pairs import SequenceToSequence


@part
class Translation(SequenceToSequence):
    """A text becomes a text in another language.

    −1/T Σ_t ln p(w_t | w_<t, source), the end mark included.

    Sutskever, Vinyals & Le 2014, arXiv:1409.3215, whose trick is `reverse`: the source is read from its end to its
    beginning. `source` and `target` are columns of tables, `tokenize` is how sacrebleu splits words for BLEU.
    """

    ability = Translator
    kind = "translator"
    uses = ('translate {run} "a sentence"', "translate {run} < SOURCES > TARGETS",
            "evaluate {run} --data SOURCES --target REFERENCES", 'inspect {run} "a sentence"')
    caution = "It translates as its training pairs do, with their mistakes, and may leave out or invent what it reads."
    measure_name = "bleu"

    def __init__(self, *, source: str | int = "source", target: str | int = "target",
                 vocabulary: Literal["shared", "separate"] = "shared", reverse: bool = False,
                 tokenize: Literal["13a", "none", "char", "intl", "zh"] = "13a"):
        super().__init__(source=source, target=target, vocabulary=vocabulary, reverse=reverse)
        self.tokenize = tokenize

    def judged(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], draws: int) -> dict[str, Any]:
        from chainrule.evaluation.translations import translation_figures

        return translation_figures(hypotheses, references, self.tokenize, draws)

    def table(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
        from chainrule.evaluation.translations import bleu_table

        return bleu_table(hypotheses, references, self.tokenize)
