"""Suffix links: the kernel and the plain way give the links of the definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.counting.count import count
from chainrule.counting.links import _links_plainly, continuation_counts, suffix_links
from chainrule.counting.scratch import Scratch
from chainrule.kernels.links import count_links, links

START, END, SIZE = 1, 2, 6
units = st.lists(st.lists(st.integers(3, SIZE - 1), max_size=8), min_size=1, max_size=7)


def spelled(counts, order):
    """All n-grams of an order, as tuples."""
    grams = [(w,) for w in range(counts.vocabulary_size)]
    for below, level in zip(counts.levels[:order - 1], counts.levels[1:order], strict=True):
        owners = np.repeat(np.arange(len(below)), np.diff(below.starts))
        grams = [grams[h] + (int(w),) for h, w in zip(owners, level.words, strict=True)]
    return grams


@settings(deadline=None, max_examples=60)
@given(units)
def test_a_link_leads_to_the_same_words_without_the_first(lists):
    ids = np.array([w for unit in lists for w in (*unit, END)], np.int32)
    counts, shorter = count(ids, 4, SIZE, start=START, end=END), np.zeros(0, np.uint32)
    for n in (2, 3, 4):
        before, shorter = shorter, suffix_links(counts, n, shorter, Scratch())
        targets = spelled(counts, n - 1)
        assert [targets[u] for u in shorter] == [gram[1:] for gram in spelled(counts, n)]
        if n > 2:
            given_ = (counts.levels[n - 1].words, counts.levels[n - 2].starts, before, counts.levels[n - 2].words,
                      counts.levels[n - 3].starts)
            for scratch in (Scratch(), Scratch(limit=1)):
                np.testing.assert_array_equal(links(*given_, scratch), _links_plainly(*given_, scratch))
        np.testing.assert_array_equal(count_links(shorter, len(targets), Scratch()),
                                      np.bincount(shorter, minlength=len(targets)))


def test_a_continuation_count_is_the_number_of_different_words_before():
    ids = np.array([3, 4, END, 5, 4, END, 3, 4, END], np.int32)
    counts = count(ids, 2, SIZE, start=START, end=END)
    found = continuation_counts(counts, 1, suffix_links(counts, 2, np.zeros(0, np.uint32), Scratch()), Scratch())
    assert found[4] == 2 and found[3] == 1 and found[END] == 1
