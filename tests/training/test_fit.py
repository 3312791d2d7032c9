"""The whole loop: budgets, evaluations, what is saved for use, and training on after an interruption."""

import dataclasses
import json
import os
import signal

import numpy as np
import pytest
import torch
from small import LSTM, SHAPES, SIZE, TRANSFORMER, backwards, learner, planned, silent, text, train

from chainrule.errors import OptionError, StorageError, UsageError
from chainrule.models.cost.counting import counted
from chainrule.storage.tensors import open_tensors
from chainrule.tasks._batch import Batch
from chainrule.training.callbacks import Callbacks
from chainrule.training.loop import fit
from chainrule.training.networks import chosen_device, new_network
from chainrule.training.plan import Budget, Plan
from chainrule.training.torch_learner import TorchLearner
from chainrule.training.weights import weights
from chainrule.training.workspace import Workspace


def files(workspace):
    """Everything that must not depend on interruptions: metrics, and the files of the last checkpoint."""
    last = max(workspace.glob("step-*"))
    tensors = [last / f"{name}.safetensors" for name in ("model", "optimizer", "memory")]
    found = [workspace / "metrics.jsonl", last / "state.json", *tensors]
    return {"last": last.name} | {path.name: path.read_bytes() for path in found}


class Interrupts:
    """Sends this process a signal when training has come to a step."""

    def __init__(self, step, number=signal.SIGINT):
        self.step, self.number = step, number

    def __call__(self, facts):
        if facts["step"] == self.step:
            os.kill(os.getpid(), self.number)


def interrupted(shape, plan, workspace, steps):
    """Trains with an interruption after each of these steps."""
    for step in steps:
        with pytest.raises(KeyboardInterrupt):
            train(shape, plan, workspace, callbacks=Callbacks(silent, show=Interrupts(step)))
    return train(shape, plan, workspace)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_same_seed_gives_the_same_bytes_and_another_does_not(shape, tmp_path):
    for name, seed in (("one", 3), ("two", 3), ("other", 4)):
        train(shape, planned(seed=seed), tmp_path / name)
    one, two, other = (files(tmp_path / name) for name in ("one", "two", "other"))
    assert one == two
    assert one["model.safetensors"] != other["model.safetensors"]


VARIANTS = {"plain": {}, "pieces": {"accumulation": 4}, "average": {"ema": 0.9}, "muon": {"optimizer": "muon"},
            "epochs": {"budget": Budget(epochs=1.3)}, "tokens": {"budget": Budget(tokens=400)},
            "momentum": {"optimizer": "momentum", "schedule": "plateau", "patience": 4},
            "half": {"precision": "bfloat16"}, "smooth": {"label_smoothing": 0.1, "clip": 0.1, "log_every": 3}}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_interrupted_training_ends_byte_equal(shape, variant, tmp_path):
    plan = planned(**variant)
    stack, fitted = train(shape, plan, tmp_path / "whole")
    again, resumed = interrupted(shape, plan, tmp_path / "cut", [1, 4, 5, 6])
    assert files(tmp_path / "whole") == files(tmp_path / "cut")
    assert fitted.metrics == resumed.metrics and fitted.state == resumed.state
    assert all(torch.equal(tensor, weights(again)[name]) for name, tensor in weights(stack).items())


def test_a_restored_state_is_the_one_that_was_carried(tmp_path):
    """Were the LSTM's memory lost, the next loss would be another: this checks that the test above can fail."""
    plan = planned(budget=Budget(steps=4), evaluate_every=100, log_every=1)
    _, whole = train(LSTM, plan, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(LSTM, plan, tmp_path / "cut", callbacks=Callbacks(silent, show=Interrupts(2)))
    memory = open_tensors(tmp_path / "cut" / "step-000000002" / "memory.safetensors")
    assert memory["carried.0000"].shape == (6, 6) and abs(memory["carried.0000"]).sum() > 0
    _, resumed = train(LSTM, plan, tmp_path / "cut")
    assert resumed.metrics == whole.metrics


def test_a_signal_ends_after_the_step_and_says_how_to_go_on(tmp_path):
    said, handler = [], signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as end:
        train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(said.append, show=Interrupts(3, signal.SIGTERM)))
    assert end.value.code == 143
    assert said[-1] == "stopped after step 3; the same command continues from there."
    train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(said.append))
    assert any(line.startswith("resuming at step 3, after 126 tokens and ") for line in said)
    assert signal.getsignal(signal.SIGTERM) is handler


def test_a_signal_that_is_ignored_stays_so(tmp_path):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        callbacks = Callbacks(silent, show=Interrupts(3, signal.SIGHUP))
        _, fitted = train(TRANSFORMER, planned(), tmp_path, callbacks=callbacks)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert fitted.state.step == 12


def test_a_second_signal_acts_at_once(tmp_path):
    def impatient(facts):
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(silent, show=impatient))


def test_without_checkpoints_a_stop_says_that_nothing_was_kept(tmp_path):
    said = []
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, planned(keep=0), tmp_path, callbacks=Callbacks(said.append, show=Interrupts(3)))
    assert said[-1] == "stopped after step 3; nothing was kept, since training.keep = 0."
    assert not list(tmp_path.glob("step-*"))


@pytest.mark.parametrize(("change", "words"), [
    ({"batch": 5}, ["training.batch: 6 → 5"]),
    ({"optimizer": "sgd", "seed": 9}, ["training.optimizer: adamw → sgd", "training.seed: 3 → 9"]),
])
def test_a_changed_plan_is_refused_and_shown(change, words, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(silent, show=Interrupts(6)))
    before = files(tmp_path)
    with pytest.raises(UsageError) as error:
        train(TRANSFORMER, planned(**change), tmp_path)
    lines = str(error.value).split("\n")
    assert lines[0] == f"{tmp_path}: holds an unfinished training (at step 6) that was started with different settings:"
    assert lines[1:-1] == words
    assert lines[-1] == "Give the same command to continue it, or --force to start over."
    assert files(tmp_path) == before


def test_changed_data_and_shape_are_refused_and_shown(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(silent, show=Interrupts(6)))
    with pytest.raises(UsageError, match="text: [0-9a-f]{64} → [0-9a-f]{64}"):
        train(TRANSFORMER, planned(), tmp_path, tokens=499)
    with pytest.raises(UsageError, match="shape.width: 8 → 16"):
        train(dataclasses.replace(TRANSFORMER, width=16), planned(), tmp_path)


def test_a_training_without_a_checkpoint_is_replaced(tmp_path):
    """There is nothing to lose: a first step that failed, say."""
    with pytest.raises(ZeroDivisionError):
        train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(silent, show=lambda facts: 1 / 0))
    train(TRANSFORMER, planned(batch=5), tmp_path)
    train(TRANSFORMER, planned(batch=5), tmp_path / "new")
    assert files(tmp_path) == files(tmp_path / "new")


def forced(plan, path, said, show=None):
    """Trains with --force."""
    callbacks = Callbacks(said.append, show)
    place = Workspace(path, {"training": dataclasses.asdict(plan)}, force=True, say=said.append)
    return fit(learner(TRANSFORMER, plan, callbacks, valid=text(150, seed=1)), place, callbacks)


def test_force_starts_over_where_something_changed_and_continues_where_nothing_did(tmp_path):
    said = []
    for step in (6, 8):
        with pytest.raises(KeyboardInterrupt):
            forced(planned(), tmp_path, said, Interrupts(step))
    assert any(line.startswith("resuming at step 6") for line in said)
    said.clear()
    forced(planned(batch=5), tmp_path, said)
    train(TRANSFORMER, planned(batch=5), tmp_path / "new")
    assert said[0] == "starting over, since this changed: training.batch: 6 → 5."
    assert files(tmp_path) == files(tmp_path / "new")


def test_a_damaged_checkpoint_is_skipped_for_the_one_before(tmp_path):
    said = []
    train(TRANSFORMER, planned(), tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, planned(), tmp_path / "cut", callbacks=Callbacks(silent, show=Interrupts(7)))
    damaged = tmp_path / "cut" / "step-000000007" / "optimizer.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    train(TRANSFORMER, planned(), tmp_path / "cut", callbacks=Callbacks(said.append))
    assert said[0].startswith(f"a damaged checkpoint is skipped: {damaged}: SHA-256 differs")
    assert said[1].startswith("resuming at step 5")
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


def test_one_process_at_a_time(tmp_path):
    def second(facts):
        with pytest.raises(StorageError, match="another process trains there now"):
            train(TRANSFORMER, planned(), tmp_path)

    train(TRANSFORMER, planned(budget=Budget(steps=1)), tmp_path, callbacks=Callbacks(silent, show=second))


def test_the_last_few_checkpoints_and_the_best_are_kept(tmp_path):
    plan = planned(evaluate_every=1, optimizer={"name": "adamw", "rate": 0.1}, keep=2, budget=Budget(steps=30))
    _, fitted = train(TRANSFORMER, plan, tmp_path, valid=backwards())
    best = int(fitted.state.best["step"])
    assert best < 20
    assert [path.name for path in sorted(tmp_path.glob("step-*"))] == [f"step-{n:09d}" for n in (best, 29, 30)]


def test_patience_stops_and_saves_the_best(tmp_path):
    plan = planned(evaluate_every=1, optimizer={"name": "adamw", "rate": 0.1}, patience=3, budget=Budget(steps=200))
    stack, fitted = train(TRANSFORMER, plan, tmp_path, valid=backwards())
    state = fitted.state
    assert state.step == state.best["step"] + 3 < 200
    assert state.best["loss"] == min(state.losses)
    saved = open_tensors(tmp_path / f"step-{int(state.best['step']):09d}" / "model.safetensors")
    for name, tensor in weights(stack).items():
        np.testing.assert_array_equal(saved[name], tensor)


def test_the_average_is_what_is_evaluated_and_saved(tmp_path):
    plan = planned(ema=0.9, evaluate_every=4)
    stack, fitted = train(TRANSFORMER, plan, tmp_path)
    memory = open_tensors(tmp_path / "step-000000012" / "memory.safetensors")
    for name, tensor in weights(stack).items():
        np.testing.assert_array_equal(memory[f"average.{name}"], tensor)
    again = learner(TRANSFORMER, planned(), valid=text(150, seed=1))
    again.network.load_state_dict(stack.state_dict())
    assert again.evaluate(6, writes=False)[0]["loss"] == fitted.state.last["loss"]


def test_the_average_follows_its_equation(tmp_path):
    plan = planned(ema=0.5, budget=Budget(steps=3), evaluate_every=1, keep=9)
    train(TRANSFORMER, plan, tmp_path)
    average = {name: tensor.numpy().copy() for name, tensor in weights(new_network(TRANSFORMER, SIZE, plan)).items()}
    for step in (1, 2, 3):
        folder = tmp_path / f"step-{step:09d}"
        decay = min(0.5, (1 + step) / (10 + step))
        kept = open_tensors(folder / "memory.safetensors")
        for name, now in open_tensors(folder / "model.safetensors").items():
            average[name] = decay * average[name] + (1 - decay) * now
            np.testing.assert_allclose(kept[f"average.{name}"], average[name], rtol=1e-5, atol=1e-7)


def test_budgets_are_spent(tmp_path):
    flops = learner(TRANSFORMER, planned()).flops_per_token()
    per_epoch = (500 - 7 + 1) // 7 / 6
    cases = {"steps": (Budget(steps=5), 5), "epochs": (Budget(epochs=2), int(np.ceil(2 * per_epoch))),
             "tokens": (Budget(tokens=421), 10), "flops": (Budget(flops=flops * 42 * 3), 3)}
    for name, (budget, steps) in cases.items():
        _, fitted = train(TRANSFORMER, planned(budget=budget, keep=0), tmp_path / name)
        assert (fitted.state.step, fitted.state.tokens) == (steps, steps * 42), name


def test_flops_are_counted_from_the_matrices():
    """6 for each weight that multiplies, and the scores: by hand for a tied stack of width 8."""
    stack = new_network(TRANSFORMER, 13, planned())
    matrices = sum(p.numel() for name, p in stack.named_parameters() if "sublayers" in name and p.ndim == 2)
    assert learner(TRANSFORMER, planned()).flops_per_token() == 6 * (matrices + 13 * 8) + 12 * 8 * 7
    assert sum(part.training for part in counted(TRANSFORMER, 13, 7)) == 6 * (matrices + 13 * 8) + 12 * 8 * 7


def test_metrics_have_no_clock_and_timings_have_one(tmp_path):
    _, fitted = train(TRANSFORMER, planned(), tmp_path)
    assert [row["step"] for row in fitted.metrics] == [2, 4, 5, 6, 8, 10, 10, 12, 12]
    assert set(fitted.metrics[0]) == {"step", "tokens", "flops", "loss", "bits_per_byte", "rate", "gradient_norm",
                                      "skipped"}
    assert set(fitted.metrics[2]) == {"step", "tokens", "flops", "valid_loss", "valid_bits_per_byte"}
    timings = [json.loads(line) for line in (tmp_path / "timings.jsonl").read_text().splitlines()]
    assert all("seconds" in row for row in timings) and len(timings) == 9


@pytest.mark.parametrize("change", [{"keep": 1}, {"save_every": 5.0}, {"log_every": 4}])
def test_how_often_something_is_written_may_change_between_stop_and_resume(change, tmp_path):
    said = []
    stack, _ = train(TRANSFORMER, planned(), tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, planned(), tmp_path / "cut", callbacks=Callbacks(silent, show=Interrupts(6)))
    again, _ = train(TRANSFORMER, planned(**change), tmp_path / "cut", callbacks=Callbacks(said.append))
    assert said[0].startswith("resuming at step 6")
    assert all(torch.equal(tensor, weights(again)[name]) for name, tensor in weights(stack).items())
    identity = json.loads((tmp_path / "cut" / "identity.json").read_text())["training"]
    assert change.items() <= identity.items()


def test_training_learns(tmp_path):
    plan = planned(budget=Budget(steps=300), evaluate_every=None, optimizer={"name": "adamw", "rate": 0.02})
    for name, shape in {**SHAPES, "lstm": dataclasses.replace(LSTM, pattern="r", width=16)}.items():
        _, fitted = train(shape, plan, tmp_path / name, tokens=3000)
        assert fitted.state.losses[-1] < 0.75 * np.log(13), name


def test_the_random_state_of_the_caller_is_left_alone(tmp_path):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train(TRANSFORMER, planned(), tmp_path)
    assert torch.equal(torch.rand(3), expected)


def test_a_model_that_cannot_be_compiled_trains_without(tmp_path, monkeypatch):
    def broken(model, inputs):
        raise RuntimeError("no compiler here")

    real = torch.compile
    monkeypatch.setattr(torch, "compile", lambda model: real(model, backend=broken))
    said = []
    _, compiled = train(TRANSFORMER, planned(compile="on"), tmp_path / "one", callbacks=Callbacks(said.append))
    _, plain = train(TRANSFORMER, planned(compile="off"), tmp_path / "two")
    assert sum("training continues without it" in line for line in said) == 1
    assert compiled.metrics == plain.metrics


@pytest.mark.parametrize(("given", "words"), [
    ({"batch": 0}, "training.batch = 0, expected at least 1."),
    ({"accumulation": 9}, "training.accumulation = 9, expected at most training.batch = 6."),
    ({"clip": 0.0}, "training.clip = 0.0, expected more than 0, or null for none."),
    ({"ema": 1.0}, "training.ema = 1.0, expected less than 1, or null for none."),
    ({"ema": 0.0}, "training.ema = 0.0, expected more than 0, or null for none."),
    ({"label_smoothing": -0.1}, "training.label_smoothing = -0.1, expected at least 0."),
    ({"label_smoothing": 1.0}, "training.label_smoothing = 1.0, expected less than 1."),
    ({"patience": 1, "keep": 0}, "training.keep = 0, expected at least 1 with training.patience. What is"),
])
def test_an_impossible_plan_is_refused(given, words):
    with pytest.raises(OptionError) as error:
        planned(**given)
    assert str(error.value).startswith(words)


@pytest.mark.parametrize("given", [{}, {"steps": 1, "seconds": 2.0}])
def test_a_budget_has_exactly_one_unit(given):
    with pytest.raises(OptionError, match="expected exactly one of steps, epochs, tokens, flops and seconds."):
        Budget(**given)


def test_a_device_that_is_not_there_is_refused():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(OptionError, match="training.device = 'cuda', expected 'cpu' or 'auto'. torch finds no GPU"):
        chosen_device("cuda")


def test_recurrence_in_float16_is_refused_on_the_cpu(tmp_path):
    with pytest.raises(OptionError, match="training.precision = 'float16', expected 'bfloat16' or 'float32' for recur"):
        train(LSTM, planned(precision="float16"), tmp_path)


class Echo:
    """A task and its data, written from the protocols alone: every token is wanted where it is read."""

    rows, context, tokens, tokens_per_step, steps_per_epoch = 6, 7, 42, 42, 1.0
    evaluation_tokens, carries, fixed, known = 42, False, True, None

    def batch(self, step):
        ids = np.random.default_rng(step).integers(2, SIZE, (6, 7))
        return Batch.of(ids, ids)

    def validation(self, rows):
        yield self.batch(1000)

    def measured(self, loss):
        return {}

    measured_in_validation = measured

    def loss(self, network, batch, *, smoothing=0.0):
        hidden, _ = network(batch.inputs)
        return network.head.loss(hidden, batch.targets, smoothing=smoothing), batch.count, None

    def rank(self, found):
        return found["loss"]

    def validate(self, network, batches):
        batch, = batches
        loss, count, _ = self.loss(network, batch)
        right = network.head.log_probs(network(batch.inputs)[0]).argmax(-1) == batch.targets
        return {"loss": loss.item() / count, "right": right.float().mean().item()}


def test_fit_takes_any_task(tmp_path):
    """The loop knows a task by what it does, and keeps the measures that the task itself has."""
    plan = Plan(budget=Budget(steps=150), batch=6, optimizer={"name": "adamw", "rate": 0.05})
    callbacks, task = Callbacks(silent), Echo()
    echoes = TorchLearner(new_network(TRANSFORMER, SIZE, plan), task, task, plan, callbacks)
    fitted = fit(echoes, Workspace(tmp_path, {"echo": 1}, say=silent), callbacks)
    assert fitted.state.step == 150 and fitted.state.last["right"] > 0.9
    assert [row["valid_right"] for row in fitted.metrics if "valid_right" in row][-1] == fitted.state.last["right"]


def test_without_validation_text_there_is_no_best(tmp_path):
    callbacks = Callbacks(silent)
    fitted = fit(learner(TRANSFORMER, planned(budget=Budget(steps=2))), Workspace(tmp_path, {}, say=silent), callbacks)
    assert fitted.state.step == 2 and fitted.state.best == {}
