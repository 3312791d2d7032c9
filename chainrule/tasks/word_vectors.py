"""Word vectors: words that are used alike come to lie near each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.protocols import WordVectors
from chainrule.recipe.registry import part
from chainrule.tasks._task import OnText, refuse_target

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.evaluation.options import Measuring


@part
class WordVectorsTask(OnText):
    """Words that are used alike come to lie near each other.

    What is learned for that differs from method to method: a word from those around it, or their counts.
    """

    ability = WordVectors
    kind = "word vectors"
    uses = ("neighbors {run} WORD", "analogy {run} man woman king", "inspect {run} WORD WORD")
    view = "words"
    caution = "Words are near each other as they were in its training text, whose mistakes and prejudices it has."
    reads_text = False

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        """Each file by the part of vectors/evaluations that recognizes it."""
        from chainrule.vectors.evaluating import evaluate

        return evaluate(run.offering(WordVectors, "evaluate"), [data] if isinstance(data, str | Path) else list(data))

    def reading(self, recipe: Any) -> Any:
        return None

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """On questions and pairs of words: `tasks._word_questions`."""
        from chainrule.tasks._word_questions import WordQuestions

        refuse_target(self, targets[0] or targets[1])
        return WordQuestions(recipe, data, valid)
