"""Which tokens were said when: spans from an alignment, words from tokens."""

import numpy as np

from chainrule.models.hearing import Heard, spans_of, timed_words, words_of


def test_spans_are_the_stretches_of_each_token():
    assert spans_of(np.array([-1, 0, 0, -1, 1, -1, -1, 2]), 3) == [(1, 3), (4, 5), (7, 8)]


def test_letters_belong_to_words_and_spaces_to_none():
    assert words_of(["a", "ab", "ab ", "ab c"]) == [0, 0, -1, 1]
    assert words_of(["one", "one two"]) == [0, 1]


def test_words_begin_with_their_first_token_and_end_with_their_last():
    heard = Heard("ab c", -1.0, ["a", "b", " ", "c"], [(1, 2), (3, 5), (5, 6), (8, 9)], np.zeros((4, 10)), 0.5,
                  [0, 0, -1, 1])
    assert timed_words(heard) == [("ab", 0.5, 2.5), ("c", 4.0, 4.5)]
