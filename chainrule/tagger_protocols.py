"""The protocols of taggers: what they all can do, and what only some know besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Tagger(Protocol):
    """A tag for each word. What `chainrule tag` needs."""

    tags: Sequence[str]

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The tags of the words of each sentence."""
        ...


@runtime_checkable
class WeighsTags(Protocol):
    """A tagger that gives every tag a probability at every word."""

    def probabilities(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """(words, tags) of each sentence."""
        ...


@runtime_checkable
class ChainsTags(Protocol):
    """A tagger that may score which tag follows which."""

    def tag_transitions(self) -> np.ndarray | None:
        """(tags, tags): the score of the second, a column, after the first, a row; None where there is no such."""
        ...


@runtime_checkable
class ExplainsTags(Protocol):
    """A tagger that can say why a word, by itself, has its tags."""

    def why(self, word: str) -> dict[str, Any]:
        """`counts` of the tags that the word had in training, and what its `endings` say, from the shortest."""
        ...


@runtime_checkable
class KnowsWords(Protocol):
    """A tagger that can say which words it was trained on."""

    def knows(self, word: str) -> bool: ...
