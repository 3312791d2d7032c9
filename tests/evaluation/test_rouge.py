"""ROUGE agrees with Google's rouge-score."""

import numpy as np
import pytest

from chainrule.evaluation.rouge import rouge, rouge_table

WORDS = ["the", "cat", "Sat", "on", "a", "mat.", "dog's", "x1", "—", "U.S."]


def test_agrees_with_rouge_score_on_random_texts():
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rouge1", "rouge2", "rougeL"])
    draw = np.random.default_rng(0)
    for _ in range(300):
        one, other = (" ".join(draw.choice(WORDS, draw.integers(0, 12))) for _ in range(2))
        expected = scorer.score(other, one)
        assert rouge(one, other) == pytest.approx([expected[name].fmeasure for name in ("rouge1", "rouge2", "rougeL")])


def test_of_several_references_the_best_counts():
    table = rouge_table(["a cat sat"], [["a dog ran", "a cat sat"]])
    np.testing.assert_allclose(table, [[1, 1, 1]])
