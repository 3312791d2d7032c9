"""What training tells people: what it will take, what the model writes meanwhile, and what came of it."""

import dataclasses

import pytest
from small import TRANSFORMER, VOCABULARY, backwards, planned, silent, text, train

from chainrule.training.course import Course
from chainrule.training.plan import Budget
from chainrule.training.run import Telling, language_task, new_stack, train_ids
from chainrule.training.torch_learner import TorchLearner
from chainrule.training.weights import optimizer_state


def test_samples_are_told_and_kept(tmp_path):
    said = []
    telling = Telling(said.append, sample=lambda stack: [f"{'training' if stack.training else 'resting'}"])
    _, fitted = train(TRANSFORMER, planned(), tmp_path, telling=telling)
    assert [row["samples"] for row in fitted.metrics if "samples" in row] == [["resting"]] * 3
    assert "step 5 writes: 'resting'" in said


def test_samples_begin_when_something_is_learned_and_are_shown_in_short(tmp_path):
    said = []
    telling = Telling(said.append, sample=lambda stack: ["abcd" * 50])
    _, fitted = train(TRANSFORMER, planned(evaluate_every=1), tmp_path, telling=telling)
    assert [row["step"] for row in fitted.metrics if "samples" in row] == list(range(2, 13))
    assert fitted.metrics[-1]["samples"] == ["abcd" * 50]
    assert f"step 12 writes: '{'abcd' * 20}…'" in said and not any("step 1 writes" in line for line in said)


def test_what_training_takes_is_said_before_it_starts(tmp_path):
    said = []
    train(TRANSFORMER, planned(), tmp_path, telling=Telling(said.append))
    assert said[0] == ("960 parameters; 12 steps of 42 tokens, 504 in all (1.0 times the text); about 1 s and 1 MiB of "
                       "memory on the CPU.")


@pytest.mark.parametrize("variant", [{}, {"accumulation": 3}, {"ema": 0.9}, {"optimizer": "muon"}], ids=str)
def test_the_memory_that_is_forecast_is_that_of_the_cost(variant):
    plan = planned(**variant)
    stack = new_stack(TRANSFORMER, VOCABULARY.size, 0)
    task = language_task(stack, plan, text(), None, VOCABULARY, Telling(silent))
    learner = TorchLearner(stack, task, plan, silent)
    found = learner.memory(Course(plan.accumulation))
    learner.step(Course(plan.accumulation), 0.5)
    assert found.weights == found.gradients == sum(p.nbytes for p in stack.parameters())
    assert found.average == (found.weights if plan.ema else 0)
    kept = [t for t in optimizer_state(learner.optimizer).values() if t.ndim]
    assert found.optimizer == sum(t.nbytes for t in kept)
    whole = learner.memory(Course(1))
    assert found.activations * plan.accumulation == pytest.approx(whole.activations, rel=0.2)


def test_without_validation_the_end_still_says_the_training_loss(tmp_path):
    plan = planned(budget=Budget(steps=7), log_every=100)
    _, fitted = train_ids(TRANSFORMER, plan, text(), None, VOCABULARY, tmp_path, device="cpu", telling=Telling(silent))
    assert fitted.metrics[-1]["step"] == 7
    assert fitted.training == {key: fitted.metrics[-1][key] for key in ("loss", "bits_per_byte")}
    assert 1 < fitted.training["loss"] < 4 and fitted.kept == 7


def test_overfitting_is_told_and_what_to_try(tmp_path):
    plan = planned(evaluate_every=1, optimizer={"name": "adamw", "rate": 0.1}, budget=Budget(steps=30))
    _, fitted = train(TRANSFORMER, plan, tmp_path / "last", valid=backwards())
    best = int(fitted.course.best["step"])
    assert fitted.kept == 30 > best
    assert fitted.advice[0].startswith(f"the validation loss was best at step {best} (")
    assert "Try training.patience=3, which stops there and keeps the best" in fitted.advice[0]
    _, fitted = train(TRANSFORMER, dataclasses.replace(plan, patience=3), tmp_path / "best", valid=backwards())
    assert fitted.kept == best and fitted.advice == []


def test_a_text_far_too_small_is_told(tmp_path):
    plan = planned(budget=Budget(steps=20), keep=0)
    _, fitted = train_ids(TRANSFORMER, plan, text(9), None, VOCABULARY, tmp_path, device="cpu", telling=Telling(silent))
    assert fitted.advice == [
        "the text was read 93 times, and nothing was kept aside to see whether that was too often. Try --valid SPEC, "
        "or split.valid=0.1.",
        "the text has 9 tokens and the model 960 parameters: far too little text for it. Try more text, or a smaller "
        "model.width."]
    _, fitted = train(TRANSFORMER, planned(), tmp_path / "fine")
    assert fitted.advice == []
