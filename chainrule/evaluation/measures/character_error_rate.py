"""Character error rate: the word error rate's counts, over characters."""

from __future__ import annotations

from chainrule.evaluation.measures.word_error_rate import WordErrorRate as _OfWords
from chainrule.recipe.registry import part


@part
class CharacterErrorRate(_OfWords):
    """Edits for each character of the references, spaces among them.

    A row of its table is (errors, characters of the reference): for languages that do not separate words.
    """

    label = "CER"
