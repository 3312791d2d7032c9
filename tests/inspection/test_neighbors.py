"""Neighbors of embeddings: the same as all cosines, computed one by one."""

import math

import numpy as np
import pytest

import chainrule.inspection.neighbors as neighboring
from chainrule.inspection.neighbors import neighbors


def dense(table, id, count, leave_out):
    def cos(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))

    others = [(cos(table[id], table[w]), w) for w in range(len(table)) if w != id and w not in leave_out]
    return [(w, value) for value, w in sorted(others, key=lambda pair: (-pair[0], pair[1]))[:count]]


@pytest.mark.parametrize("at_once", [1, 1 << 23])
def test_neighbors_are_the_largest_of_all_cosines(at_once, monkeypatch):
    monkeypatch.setattr(neighboring, "AT_ONCE", at_once)
    table = np.random.default_rng(0).normal(size=(17, 5))
    for id, found in zip([3, 0, 16], neighbors(table, [3, 0, 16], count=4, leave_out=[1]), strict=True):
        wanted = dense(table.tolist(), id, 4, [1])
        assert [w for w, _ in found] == [w for w, _ in wanted]
        np.testing.assert_allclose([value for _, value in found], [value for _, value in wanted])


def test_a_small_vocabulary_has_few_neighbors_and_an_empty_vector_none_nearer():
    assert neighbors(np.eye(2), [0], count=5) == [[(1, 0.0)]]
    assert [w for w, _ in neighbors(np.array([[0.0, 0], [1, 0], [1, 1]]), [1], count=5)[0]] == [2, 0]
