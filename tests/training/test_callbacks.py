"""The messages of training: the forecast, samples, and advice at the end."""

import dataclasses

import pytest
from small import TRANSFORMER, VOCABULARY, backwards, learner, planned, silent, text, train
from toys import Bytes

from chainrule.tasks.language import Language
from chainrule.training.callbacks import Callbacks
from chainrule.training.from_ids import train_ids
from chainrule.training.loop import fit
from chainrule.training.plan import Budget
from chainrule.training.state import TrainingState
from chainrule.training.weights import optimizer_state
from chainrule.training.workspace import Workspace


class Writes(Language):
    """Language modeling that writes what a test says."""

    def __init__(self, write):
        self.write = write

    def samples(self, network, tokenizer):
        return [self.write(network)]


def writing(write, plan, path, said):
    callbacks = Callbacks(said.append)
    made = learner(TRANSFORMER, plan, callbacks, task=Writes(write), valid=text(150, seed=1), tokenizer=Bytes())
    return fit(made, Workspace(path, {"a": 1}, say=said.append), callbacks)


def test_samples_are_printed_and_saved(tmp_path):
    said = []
    fitted = writing(lambda network: "training" if network.training else "resting", planned(), tmp_path, said)
    assert [row["samples"] for row in fitted.metrics if "samples" in row] == [["resting"]] * 3
    assert "step 5 writes: 'resting'" in said


def test_samples_begin_when_something_is_learned_and_are_shown_in_short(tmp_path):
    said = []
    fitted = writing(lambda network: "abcd" * 50, planned(evaluate_every=1), tmp_path, said)
    assert [row["step"] for row in fitted.metrics if "samples" in row] == list(range(2, 13))
    assert fitted.metrics[-1]["samples"] == ["abcd" * 50]
    assert f"step 12 writes: '{'abcd' * 20}…'" in said and not any("step 1 writes" in line for line in said)


def test_the_forecast_is_printed_before_training_starts(tmp_path):
    said = []
    train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(said.append))
    assert said[0] == ("960 parameters; 12 steps of 42 tokens, 504 in all (1.0 times the text); about 1 s and 1 MiB of "
                       "memory on the CPU.")


@pytest.mark.parametrize("variant", [{}, {"accumulation": 3}, {"ema": 0.9}, {"optimizer": "muon"}], ids=str)
def test_the_memory_that_is_forecast_is_that_of_the_cost(variant):
    plan = planned(**variant)
    made = learner(TRANSFORMER, plan)
    found = made.memory(TrainingState(plan.accumulation))
    made.step(TrainingState(plan.accumulation), 0.5)
    assert found.weights == found.gradients == sum(p.nbytes for p in made.network.parameters())
    assert found.average == (found.weights if plan.ema else 0)
    kept = [t for t in optimizer_state(made.optimizer).values() if t.ndim]
    assert found.optimizer == sum(t.nbytes for t in kept)
    whole = made.memory(TrainingState(1))
    assert found.activations * plan.accumulation == pytest.approx(whole.activations, rel=0.2)


def test_without_validation_the_summary_still_has_the_training_loss(tmp_path):
    plan = planned(budget=Budget(steps=7), log_every=100)
    _, fitted = train_ids(TRANSFORMER, plan, text(), None, VOCABULARY, tmp_path, device="cpu",
                          callbacks=Callbacks(silent))
    assert fitted.metrics[-1]["step"] == 7
    assert fitted.training == {key: fitted.metrics[-1][key] for key in ("loss", "bits_per_byte")}
    assert 1 < fitted.training["loss"] < 4 and fitted.kept == 7


def test_overfitting_is_reported_with_advice(tmp_path):
    plan = planned(evaluate_every=1, optimizer={"name": "adamw", "rate": 0.1}, budget=Budget(steps=30))
    _, fitted = train(TRANSFORMER, plan, tmp_path / "last", valid=backwards())
    best = int(fitted.state.best["step"])
    assert fitted.kept == 30 > best
    assert fitted.advice[0].startswith(f"the validation loss was best at step {best} (")
    assert ("the model overfitted the training data. Try training.patience=3, which stops there and keeps the best"
            in fitted.advice[0])
    _, fitted = train(TRANSFORMER, dataclasses.replace(plan, patience=3), tmp_path / "best", valid=backwards())
    assert fitted.kept == best and fitted.advice == []


def test_a_text_far_too_small_is_reported(tmp_path):
    plan = planned(budget=Budget(steps=20), keep=0)
    _, fitted = train_ids(TRANSFORMER, plan, text(9), None, VOCABULARY, tmp_path, device="cpu",
                          callbacks=Callbacks(silent))
    assert fitted.advice == [
        "the data was read 93 times, and without validation data nothing shows whether the model overfitted. Try "
        "--valid SPEC, or split.valid=0.1.",
        "the data has 9 tokens and the model 960 parameters: far too little data for it. Try more, or a smaller "
        "model.width."]
    _, fitted = train(TRANSFORMER, planned(), tmp_path / "fine")
    assert fitted.advice == []
