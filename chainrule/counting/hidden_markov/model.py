"""A hidden Markov model as a tagger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.counting.hidden_markov import endings, lattice
from chainrule.counting.hidden_markov.counts import FLAGS, TagCounts, flag
from chainrule.counting.hidden_markov.transitions import Transitions, interpolated

LEAST = 1e-4  # of the likeliest tag of a word: others are not tried
REMEMBERED = 1 << 17  # words whose tags are kept at hand


@dataclass(frozen=True)
class How:
    """What the counts are made a model by."""

    order: int = 3
    weights: tuple[float, ...] | None = None
    ending: int = 10
    rare: int = 10
    ending_strength: float = 5.0
    word_strength: float = 0.5


class HiddenMarkovTagger:
    r"""argmax over t₁…t_T of Π_i p(t_i | t_{i−2}, t_{i−1}) p(w_i | t_i), with p(w | t) = p(t | w) p(w) / p(t)

    p(t | w) = (c(w, t) + κ g(t | w)) / (c(w) + κ),   g(t | w) = P(t | ending of w)

    Church 1988, "A stochastic parts program"; three tags in a row, endings and capitals as Brants 2000, "TnT". p(w) is
    the same for all tags. Departures: κ, `word_strength`, is 0 in TnT, so that a word that was seen has only the tags
    that it had. g of a word that was only seen with another capital is half the tags that it had so: 0.14 points on
    the development sentences of UD English-EWT.
    """

    def __init__(self, counts: TagCounts, how: How):
        self.counts, self.how, self.tags = counts, how, list(counts.tags)
        self._allowed: dict[str, lattice.Allowed] = {}

    @cached_property
    def chain(self) -> Transitions:
        return interpolated(self.counts, self.how.order, self.how.weights)

    @cached_property
    def endings(self) -> endings.Endings:
        return endings.learned(self.counts, self.how.ending, self.how.rare, self.how.ending_strength)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.counts.words)}

    def knows(self, word: str) -> bool:
        """Whether training had it, as it is written."""
        return word in self._rows

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The likeliest tags of each sentence, together."""
        return [[self.tags[state // FLAGS] for state in lattice.best(self.chain, self._words(words))]
                for words in sentences]

    def probabilities(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """(words, tags) of each sentence: p of each tag at a word, whatever tags its neighbors have."""
        found = []
        for words in sentences:
            allowed = self._words(words)
            p_TC = np.zeros((len(words), len(self.tags)), np.float32)
            for row, (states, _), own in zip(p_TC, allowed, lattice.posteriors(self.chain, allowed)[0], strict=True):
                row[states // FLAGS] = own
            found.append(p_TC)
        return found

    def tags_of(self, word: str) -> np.ndarray:
        """(C,): p(tag | word) of the word by itself."""
        row, kappa = self._rows.get(word), self.how.word_strength
        if row is None:
            return self._guess(word)
        own = self._counts_of(row)
        return (own + kappa * self._guess(word)) / (own.sum() + kappa) if kappa else own / own.sum()

    def _guess(self, word: str) -> np.ndarray:
        p, other = self.endings.tags_of(word), self.other_spelling(word)
        if other is None or self.knows(word):
            return p
        own = self._counts_of(self._rows[other])
        return (p + own / own.sum()) / 2

    def other_spelling(self, word: str) -> str | None:
        """The same word in lower case or with a capital, if training had it so."""
        return next((each for each in (word.lower(), word.capitalize()) if each != word and self.knows(each)), None)

    def _counts_of(self, row: int) -> np.ndarray:
        """(C,): how often a word had each tag."""
        own = slice(self.counts.starts[row], self.counts.starts[row + 1])
        return np.bincount(self.counts.word_tags[own], self.counts.word_counts[own], len(self.tags))

    def _words(self, words: Sequence[str]) -> list[lattice.Allowed]:
        return [self._allowed.get(word) or self._looked_up(word) for word in words]

    def _looked_up(self, word: str) -> lattice.Allowed:
        """The states that a word may have, and ln p(tag | word) − ln p(state)."""
        p = self.tags_of(word)
        tags = np.flatnonzero(p >= LEAST * p.max())
        states = FLAGS * tags + flag(word)
        if len(self._allowed) >= REMEMBERED:
            self._allowed.clear()
        self._allowed[word] = states, np.log(p[tags]) - self.chain.log_p_S[states]
        return self._allowed[word]

    def why(self, word: str) -> dict[str, Any]:
        """What is known of a word by itself: how often it had which tag, and what its endings say."""
        row = self._rows.get(word)
        counts = np.zeros(len(self.tags)) if row is None else self._counts_of(row)
        return {"known": row is not None, "counts": {self.tags[n]: int(counts[n]) for n in np.flatnonzero(counts)},
                "other_spelling": self.other_spelling(word) if row is None else None,
                "tags": self._named(self.tags_of(word)),
                "endings": [{"ending": ending, "count": count, "tags": self._named(p)}
                            for ending, count, p in self.endings.along(word)]}

    def _named(self, p: np.ndarray, most: int = 3) -> dict[str, float]:
        return {self.tags[n]: float(p[n]) for n in np.argsort(-p, kind="stable")[:most] if p[n] > 0}

    def tag_transitions(self) -> np.ndarray:
        """(tags, tags): the frequency of a tag, the column, after another, whatever their capitals."""
        of_states = np.zeros((self.counts.states + 1,) * 2)
        a_b = self.counts.trigrams_R3[:, 1], self.counts.trigrams_R3[:, 2]
        np.add.at(of_states, a_b, self.counts.trigram_counts)
        size = len(self.tags)
        counts_CC = of_states[:-1, :-1].reshape(size, FLAGS, size, FLAGS).sum(axis=(1, 3))
        return counts_CC / np.maximum(counts_CC.sum(axis=1, keepdims=True), 1)
