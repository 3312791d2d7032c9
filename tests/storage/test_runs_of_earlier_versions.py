"""Run folders that version 0.1.0 wrote still open, and give the numbers that it gave."""

import json
from pathlib import Path

import numpy as np
import pytest

import chainrule

FOLDER = Path(__file__).parent / "runs_of_0_1_0"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
LINES = (FOLDER / "text.txt").read_text(encoding="utf-8").splitlines()
LANGUAGE_MODELS = [name for name, facts in EXPECTED.items() if "scores" in facts]


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_a_language_model_of_an_earlier_version_scores_and_generates_the_same(name):
    run, facts = chainrule.load(FOLDER / name), EXPECTED[name]
    np.testing.assert_allclose(chainrule.score(run, LINES), facts["scores"], rtol=1e-6)
    found = chainrule.evaluate(run, FOLDER / "text.txt", bootstrap=10)
    assert (found["tokens"], found["nll"]) == (facts["tokens"], pytest.approx(facts["nll"], rel=1e-6))
    texts = chainrule.generate(FOLDER / name, "the", num=2, max_tokens=12, sampling=chainrule.Sampling(seed=3))
    assert [list(text.ids) for text in texts] == facts["ids"]
    assert [text.log_prob for text in texts] == pytest.approx(facts["log_prob"], rel=1e-5)


def test_word_vectors_of_an_earlier_version_are_unchanged():
    run = chainrule.load(FOLDER / "skipgram")
    for word, vector in EXPECTED["skipgram"]["vectors"].items():
        np.testing.assert_allclose(run.vectors.vector(word), vector, rtol=1e-6)


def test_a_text_classifier_of_an_earlier_version_gives_the_same_probabilities():
    model, facts = chainrule.load(FOLDER / "text-classifier").model, EXPECTED["text-classifier"]
    assert list(model.labels) == facts["labels"]
    np.testing.assert_allclose(model.probabilities(LINES), facts["probabilities"], rtol=1e-5)


def test_every_run_is_tried():
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == set(EXPECTED)
