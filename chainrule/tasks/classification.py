"""Classification: a text gets the labels that fit it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chainrule.protocols import Classifier, Task
from chainrule.recipe.registry import part

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.evaluation.options import Measuring


@part
class Classification(Task):
    """A text gets the labels that fit it.

    −1/N Σ_n ln p(label_n | text_n), or of each label by itself where a text may have several.
    """

    ability = Classifier
    kind = "text classifier"
    uses = ("predict {run} FILE", 'inspect {run} "a text"', "evaluate {run} --data FILE", "quantize {run} --out SMALL")
    caution = "It labels texts as those were that it learned from, with their mistakes and prejudices."

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        from chainrule.classifying.labeled import examples, layout_of
        from chainrule.classifying.measuring import measure, threshold_of
        from chainrule.text.corpora import open_corpus

        recipe = run.recipe
        corpus = open_corpus(data, recipe.text)
        return measure(run.offering(Classifier, "evaluate"),
                       examples(corpus.sources, layout_of(recipe.text, recipe.model.labels)), corpus.name,
                       threshold_of(run, how.threshold))

    def reading(self, recipe: Any) -> Any:
        return recipe.model.labels

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int
                ) -> Contest:
        """On labeled texts: `tasks._labeled_texts`."""
        from chainrule.tasks._labeled_texts import LabeledTexts

        return LabeledTexts(recipe, data, valid, fraction, seed)
