"""Measures of taggers over sentences."""

import numpy as np

from chainrule.recipe.registry import build


def test_token_accuracy_weighs_words_not_sentences():
    table = np.array([[1, 1], [1, 3], [4, 4]], float)
    measure = build("evaluation/measures", "token_accuracy")
    assert measure.value(table) == 6 / 8 and measure.interval(table) is None
    np.testing.assert_allclose(measure.drawn(table, np.array([[2, 1, 0], [0, 0, 1]])), [3 / 5, 1])


def test_entity_f1_is_of_all_sentences_together():
    table = np.array([[1, 2, 1], [0, 0, 0], [2, 2, 4]], float)
    measure = build("evaluation/measures", "entity_f1")
    assert measure.value(table) == 2 * 3 / (4 + 5) and measure.value(table[1:2]) == 0
    np.testing.assert_allclose(measure.exchanged(table, table[::-1], np.array([[1.0, 0, 0]])), [2 * 4 / (4 + 8)])
