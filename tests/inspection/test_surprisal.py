"""Surprisal: the sum along a text is the model's own score, for every family and smoothing."""

import math

import numpy as np
import pytest

from chainrule.inspection.surprisal import along, expected
from chainrule.recipe.registry import names
from chainrule.runs import load
from chainrule.verbs.train import train

TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\nthe mat and the log\n"
UNSEEN = "a bird sat on the cat"


def test_one_row_is_taken_apart():
    found = expected(np.log([0.5, 0.125, 0.25, 0.125]), 3, top=2)
    assert (found.surprisal, found.rank) == (pytest.approx(3), 4)
    assert found.entropy == pytest.approx(1.75)
    assert [id for id, _ in found.top] == [0, 2] and found.top[1][1] == pytest.approx(0.25)


@pytest.mark.parametrize("top", [1, 3, 50])
def test_the_likeliest_are_those_of_a_whole_sort_and_of_equals_the_first(top):
    log_p = np.log(np.random.default_rng(0).integers(1, 4, size=31) / 62)
    wanted = sorted(range(31), key=lambda id: (-log_p[id], id))[:top]
    assert [id for id, _ in expected(log_p, 0, top).top] == wanted


def test_an_impossible_token_has_infinite_surprisal_and_is_never_among_the_likeliest():
    with np.errstate(divide="ignore"):
        found = expected(np.log([1.0, 0.0, 0.0]), 2, top=5)
    assert found.surprisal == math.inf and found.entropy == 0.0 and found.top == ((0, 1.0),)
    with np.errstate(divide="ignore"):
        assert str(expected(np.log([1.0, 0.0]), 0, top=1).surprisal) == "0.0"


@pytest.mark.parametrize("smoothing", names("counting/smoothing"))
def test_surprisal_sums_to_the_score_of_an_ngram_model(smoothing, tmp_path):
    (tmp_path / "text.txt").write_text(TEXT * 3)
    train("ngram", tmp_path / "text.txt", tmp_path / "run", valid=tmp_path / "text.txt",
          overrides=["model.order=3", f"model.smoothing={smoothing}"])
    run = load(tmp_path / "run")
    line = "the cat sat on the mat" if smoothing == "maximum_likelihood" else UNSEEN
    assert_sums_to_the_score(run, line)


@pytest.mark.parametrize("model", ["{pattern: sf, width: 16, context: 8, s: {name: attention, heads: 2}}",
                                   "{pattern: r, width: 16, context: 8, position: none}"])
def test_surprisal_sums_to_the_score_of_a_neural_model_beyond_its_window(model, tmp_path):
    (tmp_path / "text.txt").write_text(TEXT * 3)
    (tmp_path / "small.yaml").write_text(f"family: neural\ntokenizer: characters\nmodel: {model}\n"
                                         "training: {budget: {steps: 2}, batch: 2, keep: 0}\n")
    train(tmp_path / "small.yaml", tmp_path / "text.txt", tmp_path / "run")
    assert_sums_to_the_score(load(tmp_path / "run"), "the cat sat on the log")


def assert_sums_to_the_score(run, line):
    unit = np.append(run.tokenizer.encode(line), run.tokenizer.end).astype(np.int32)
    steps = list(along(run.model, unit))
    score = run.model.score(unit[None] if getattr(run.model, "arrays", "") == "numpy" else as_tensor(unit))
    assert [step.id for step in steps] == unit.tolist()
    assert sum(step.surprisal for step in steps) == pytest.approx(-float(score.sum()) / math.log(2), rel=1e-5)
    assert math.isfinite(float(score.sum()))
    for step in steps:
        assert 0 <= step.entropy <= math.log2(run.model.vocabulary_size) + 1e-9
        assert [p for _, p in step.top] == sorted((p for _, p in step.top), reverse=True)


def as_tensor(unit):
    import torch

    return torch.from_numpy(unit[None])
