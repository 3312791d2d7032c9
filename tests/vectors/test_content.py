"""Words of content come before the words that make up half of a text."""

import numpy as np

from chainrule.vectors.content import content_first, examples, function_words


def test_half_of_the_text_is_in_the_most_frequent_words():
    assert function_words(np.array([50, 30, 10, 5, 5]), 5) == 0, "the first word alone is half"
    assert function_words(np.array([30, 20, 20, 20, 10]), 5) == 1
    counts = np.array([1000 // rank for rank in range(1, 401)])
    skipped = function_words(counts, 400)
    assert counts[:skipped].sum() <= counts.sum() / 2 <= counts[:skipped + 1].sum()
    assert abs(skipped - function_words(None, 400)) <= 10, "without counts, as Zipf's law has it"


def test_frequent_words_are_named_last_and_all_keep_their_order():
    assert content_first(range(6), 2) == [2, 3, 4, 5, 0, 1]
    assert content_first([9, 1, 5, 0], 2) == [0, 2, 1, 3]


def test_examples_have_the_nearest_by_cosine():
    table = np.random.default_rng(0).normal(size=(30, 5))
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    found = examples(table, 4, 3, 2)
    assert [row for row, _ in found] == [4, 5, 6]
    for row, near in found:
        cosine = unit @ unit[row]
        best = [n for n in np.argsort(-cosine) if n != row][:2]
        assert [other for other, _ in near] == best
        np.testing.assert_allclose([value for _, value in near], cosine[best], rtol=1e-5)
    assert examples(table[:1], 0, 3, 2) == [(0, [])]
