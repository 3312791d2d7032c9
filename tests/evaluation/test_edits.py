"""Edits: against the recursion itself, and word and character error rates against jiwer."""

from functools import cache

import numpy as np
import pytest

from chainrule.evaluation.edits import Edits, edits
from chainrule.recipe.registry import build


def by_the_definition(reference, said):
    @cache
    def d(i, j):
        if not i or not j:
            return i + j
        return min(d(i - 1, j - 1) + (reference[i - 1] != said[j - 1]), d(i - 1, j) + 1, d(i, j - 1) + 1)
    return d(len(reference), len(said))


def pairs(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield [" ".join(rng.choice(["one", "two", "three", "four"], rng.integers(low, 8))) for low in (1, 0)]


def test_agrees_with_the_definition_and_counts_add_up():
    for reference, said in pairs(200):
        found = edits(reference.split(), said.split())
        assert found.errors == by_the_definition(reference.split(), said.split())
        assert found.items - found.deletions + found.insertions == len(said.split())


def test_error_rates_are_those_of_jiwer():
    jiwer = pytest.importorskip("jiwer")
    both = list(pairs(300, seed=1))
    references, said = map(list, zip(*both, strict=True))
    for name, items, theirs in (("word_error_rate", str.split, jiwer.wer), ("character_error_rate", list, jiwer.cer)):
        found = [edits(items(one), items(other)) for one, other in both]
        table = np.array([(each.errors, each.items) for each in found], float)
        assert build("evaluation/measures", name).value(table) == pytest.approx(theirs(references, said), rel=1e-12)


def test_the_kinds_of_edits():
    assert edits(["a", "b", "c"], ["a", "x", "c"]) == Edits(1, 0, 0, 3)
    assert edits(["a", "b", "c"], ["a", "c"]) == Edits(0, 1, 0, 3)
    assert edits(["a", "b", "c"], ["a", "b", "b", "c"]) == Edits(0, 0, 1, 3)
    assert edits([], ["a", "b"]) == Edits(0, 0, 2, 0) and edits(["a"], []) == Edits(0, 1, 0, 1)
