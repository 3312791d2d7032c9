"""Counting: against a dictionary of tuples; the kernels, the pieces and the merge against the plain way."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.counting.count import count, count_in_pieces, count_levels_plainly, with_start_marks
from chainrule.counting.counts import Counts
from chainrule.counting.merge import merge, renumber
from chainrule.counting.scratch import Scratch
from chainrule.errors import OptionError
from chainrule.kernels.counting import count_levels

START, END, SIZE = 1, 2, 7
units = st.lists(st.lists(st.integers(3, SIZE - 1), max_size=9), min_size=1, max_size=8)


def stream(lists):
    return np.array([w for unit in lists for w in (*unit, END)], np.int32)


def as_dictionary(counts: Counts) -> dict:
    """n-gram → count, spelled out from the trie."""
    grams = [(w,) for w in range(counts.vocabulary_size)]
    found = {g: int(c) for g, c in zip(grams, counts.levels[0].counts, strict=True) if c}
    for below, level in zip(counts.levels[:-1], counts.levels[1:], strict=True):
        owners = np.repeat(np.arange(len(below)), np.diff(below.starts))
        grams = [grams[h] + (int(w),) for h, w in zip(owners, level.words, strict=True)]
        found |= dict(zip(grams, level.counts.tolist(), strict=True))
    return found


def by_the_definition(lists, order) -> dict:
    found = Counter()
    for unit in lists:
        text = (START, *unit, END)
        for n in range(1, order + 1):
            found.update(text[i:i + n] for i in range(len(text) - n + 1))
    return dict(found)


def same(one: Counts, other: Counts) -> bool:
    return as_dictionary(one) == as_dictionary(other) and [len(x) for x in one.levels] == [len(x) for x in other.levels]


@settings(deadline=None)
@given(units, st.integers(1, 5))
def test_counts_are_those_of_a_dictionary_of_tuples(lists, order):
    assert as_dictionary(count(stream(lists), order, SIZE, start=START, end=END)) == by_the_definition(lists, order)


@settings(deadline=None, max_examples=50)
@given(units, st.integers(2, 5), st.integers(0, 30))
def test_the_kernel_gives_the_plain_levels(lists, order, limit):
    text = with_start_marks(stream(lists), START, END)
    for fast, plain in zip(count_levels(text, order, SIZE, START, limit),
                           count_levels_plainly(text, order, SIZE, START, limit), strict=True):
        np.testing.assert_array_equal(fast.words, plain.words)
        np.testing.assert_array_equal(fast.counts, plain.counts)
        assert (fast.starts is None) == (plain.starts is None)
        if fast.starts is not None:
            np.testing.assert_array_equal(fast.starts, plain.starts)


@settings(deadline=None)
@given(units, st.integers(1, 5), st.integers(1, 12))
def test_counting_in_pieces_gives_the_counts_of_the_whole(lists, order, piece):
    ids = stream(lists)
    pieces = count_in_pieces(ids, order, SIZE, start=START, end=END, piece=piece, scratch=Scratch(limit=1))
    assert same(pieces, count(ids, order, SIZE, start=START, end=END))


@settings(deadline=None)
@given(units, units, units)
def test_merged_parts_are_the_counts_of_the_joined_text(a, b, c):
    parts = [count(stream(x), 4, SIZE, start=START, end=END) for x in (a, b, c)]
    assert same(merge(parts, Scratch()), count(stream(a + b + c), 4, SIZE, start=START, end=END))


@settings(deadline=None, max_examples=30)
@given(units, units)
def test_the_merging_kernel_gives_the_plain_merge(a, b):
    parts = [count(stream(x), 4, SIZE, start=START, end=END) for x in (a, b)]
    plain = merge(parts, Scratch())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chainrule.counting.merge.JIT_PAYS_FROM", 0)
        assert same(merge(parts, Scratch(limit=1)), plain)


@settings(deadline=None)
@given(units, st.permutations(range(3, SIZE)), st.integers(0, 4))
def test_renumbered_counts_are_the_counts_of_the_renumbered_text(lists, others, folded):
    mapping = np.array([0, 1, 2, *others])
    mapping[3 + folded % (SIZE - 3)] = 0  # one word becomes <unk>
    expected = count(mapping[stream(lists)].astype(np.int32), 4, SIZE, start=START, end=END)
    assert same(renumber(count(stream(lists), 4, SIZE, start=START, end=END), mapping, SIZE, START), expected)


def test_an_order_of_zero_is_refused():
    with pytest.raises(OptionError, match=r"model.order = 0, expected 1 to 24"):
        count(stream([[3]]), 0, SIZE, start=START, end=END)
