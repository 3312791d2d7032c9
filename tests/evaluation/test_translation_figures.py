"""BLEU and chrF with intervals: sacrebleu's own numbers, also where it fails."""

import pytest

from chainrule.evaluation.translations import translation_figures

sacrebleu = pytest.importorskip("sacrebleu")
TEXTS = ["a man is in the house", "two dogs play here", "the cat sat on the mat", "it is a new day", "nothing"]
REFERENCES = [["a man is in a house", "a man at home"], ["two dogs are playing here"], ["the cat sat on a mat"],
              ["this is a day"], ["no"]]


def test_figures_and_intervals_are_those_of_sacrebleu():
    found = translation_figures(TEXTS, REFERENCES, "13a", 200)
    columns = [[own[n] if n < len(own) else None for own in REFERENCES] for n in range(2)]
    for name, metric in (("bleu", sacrebleu.metrics.BLEU()), ("chrf", sacrebleu.metrics.CHRF())):
        score = metric.corpus_score(TEXTS, columns, n_bootstrap=200)
        assert found[name] == pytest.approx(score.score)
        assert found["interval"][name] == pytest.approx([score._mean - score._ci, score._mean + score._ci], abs=1e-4)
        assert str(metric.get_signature()) == found["signature" if name == "bleu" else "chrf_signature"]


def test_resamples_that_score_nothing_have_an_interval_too():
    found = translation_figures(["x y z", "", "", "", ""], [["x y z"]] + [["a b c"]] * 4, "13a", 50)
    assert found["interval"]["chrf"][0] == 0.0 < found["interval"]["chrf"][1]
