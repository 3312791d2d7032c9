"""Training on the engine goes loss for loss where torch goes, resumes byte for byte, and needs no torch."""

import json
import os
import re
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toys import Bytes

from chainrule.errors import ChainruleError
from chainrule.models.engine_stack import EngineStack, exported
from chainrule.models.shape import Shape
from chainrule.storage.tensors import open_tensors
from chainrule.tasks._text import Text, TextRead
from chainrule.tasks.language import Language
from chainrule.training.callbacks import Callbacks
from chainrule.training.engine_learner import EngineLearner
from chainrule.training.loop import fit
from chainrule.training.plan import Budget, Plan
from chainrule.training.state import TrainingState
from chainrule.training.workspace import Workspace

IDS = np.random.default_rng(0).integers(2, 20, size=1500).astype(np.int32)
IDS[::50] = 1
EMBEDDING = {"name": "lookup", "deviation": 0.1}
TRANSFORMER = Shape(pattern="(sf)*2", width=16, context=12, parts={"s": {"name": "attention", "heads": 2}},
                    embedding=EMBEDDING)
LSTM = Shape(pattern="rr", width=12, context=12, parts={"r": "lstm"}, position="none", embedding=EMBEDDING,
             dropout={"name": "independent", "rate": 0.2})
ELMAN = Shape(pattern="rr", width=12, context=12, parts={"r": "elman"}, position="none", embedding=EMBEDDING)
PLAN = Plan(budget=Budget(steps=12), batch=4, optimizer={"name": "adamw", "rate": 0.01}, evaluate_every=4, save_every=0)


class Writes(Language):
    """Language modeling that always writes the same."""

    def samples(self, network, tokenizer):
        return ["a"]


def made(network, plan=PLAN, say=print, *, valid=True, kind=EngineLearner):
    """A learner before its first step."""
    task = Writes()
    read = TextRead(Text(IDS, 3000), Text(IDS[:200], 400) if valid else None, start=0, end=1, tokenizer=Bytes())
    return kind(network, task, task.training_data(read, network, plan, say), plan, Callbacks(say))


def stack(shape=TRANSFORMER, seed=0):
    return EngineStack(shape, 20, np.random.default_rng(seed))


def trained(shape, folder, show=None, **changes):
    said, network = [], stack(shape)
    learner = made(network, replace(PLAN, **changes), said.append)
    callbacks = Callbacks(said.append, show)
    return network, fit(learner, Workspace(folder, {"a": 1}, say=said.append), callbacks), said


@pytest.mark.parametrize(("name", "smoothing"), [("transformer", 0.0), ("elman", 0.0), ("elman", 0.1)])
def test_a_hundred_losses_are_those_of_torch(name, smoothing):
    pytest.importorskip("torch")
    from chainrule.models.stack import Stack
    from chainrule.training import weights
    from chainrule.training.torch_learner import TorchLearner

    shape = TRANSFORMER if name == "transformer" else ELMAN
    ours = stack(shape, seed=1).to(np.float64)
    theirs = Stack(shape, 20).double()
    weights.put(theirs, exported(ours), "the engine")
    for key, parameter in theirs.named_parameters():
        parameter.requires_grad_("bias_hh" not in key)  # the engine has one bias
    plan = Plan(budget=Budget(steps=100), batch=4, optimizer={"name": "adamw", "rate": 0.003}, schedule="cosine",
                label_smoothing=smoothing)
    mine, peer = made(ours, plan, valid=False), made(theirs, plan, valid=False, kind=TorchLearner)
    state, other = TrainingState(1), TrainingState(1)
    for step in range(100):
        progress = (step + 0.5) / 100
        expected = pytest.approx(peer.step(other, progress).loss, abs=1e-4)
        assert mine.step(state, progress).loss == expected, f"step {step}"
        assert state.norm == pytest.approx(other.norm, rel=1e-3)


def test_the_same_seed_gives_the_same_curve_on_both_sides(tmp_path):
    """Two commands, the same seed: a hundred losses in float64, one by one."""
    pytest.importorskip("torch")
    from chainrule import train

    (tmp_path / "text.txt").write_text("".join(f"the cows eat grass, {n * n % 17} of them\n" for n in range(60)))
    both = ["tokenizer=characters", "model.width=32", "model.context=16", "training.budget.steps=100", "seed=3",
            "training.batch=4", "training.precision=float64", "training.log_every=1", "training.keep=0"]
    rate, curves = "training.optimizer.rate=0.003", []
    for recipe, own in (("engine-transformer", ["model.dropout.rate=0", rate]),
                        ("transformer", ["model.dropout.rate=0", "training.initial=engine",
                                         "training.optimizer=adamw", rate])):
        train(recipe, tmp_path / "text.txt", tmp_path / recipe, overrides=[*both, *own])
        rows = map(json.loads, (tmp_path / recipe / "metrics.jsonl").read_text().splitlines())
        curves.append([row["loss"] for row in rows if "loss" in row])
    assert len(curves[0]) == 100 and curves[0][-1] < 0.5 * curves[0][0], "it has learned something"
    np.testing.assert_allclose(curves[0], curves[1], atol=1e-6)


@pytest.mark.parametrize("variant", [{}, {"ema": 0.9, "accumulation": 3, "label_smoothing": 0.1},
                                     {"ema": 0.9, "patience": 2, "clip": None}], ids=["plain", "all", "best"])
@pytest.mark.parametrize("shape", [TRANSFORMER, LSTM], ids=["transformer", "lstm"])
def test_an_interrupted_training_ends_as_an_uninterrupted_one(shape, variant, tmp_path):
    whole, fitted, _ = trained(shape, tmp_path / "whole", **variant)

    def stop(facts):
        if facts["step"] == 7:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        trained(shape, tmp_path / "cut", stop, **variant)
    resumed, again, said = trained(shape, tmp_path / "cut", **variant)
    assert any("resuming at step 6" in line for line in said)
    for name, value in exported(whole).items():
        np.testing.assert_array_equal(exported(resumed)[name], value, err_msg=name)
    assert (tmp_path / "cut" / "metrics.jsonl").read_bytes() == (tmp_path / "whole" / "metrics.jsonl").read_bytes()
    assert fitted.metrics == again.metrics and fitted.state.step == 12
    assert {"step", "tokens", "flops", "loss", "bits_per_byte", "rate", "gradient_norm"} <= set(fitted.metrics[-2])


@pytest.mark.parametrize("pieces", [2, 3, 4, 7])
@pytest.mark.parametrize("shape", [TRANSFORMER, replace(LSTM, dropout="independent")], ids=["transformer", "lstm"])
def test_micro_batches_make_a_batch_on_the_engine_too(shape, pieces):
    found = []
    for accumulation in (1, pieces):
        network, state = stack(shape).to(np.float64), TrainingState(accumulation)  # a short text may have fewer rows
        learner = made(network, replace(PLAN, optimizer="sgd"))
        losses = [learner.step(state, 0.5).loss for _ in range(4)]
        found.append((losses, exported(network)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    for name, value in found[0][1].items():
        np.testing.assert_allclose(found[1][1][name], value, rtol=1e-9, atol=1e-12, err_msg=name)


def test_the_engine_also_uses_smaller_micro_batches_when_memory_runs_out(monkeypatch):
    said, real = [], Language.loss
    learner = made(stack(), say=said.append)

    def narrow(self, network, batch, *, smoothing):
        if len(batch) > 2:
            raise MemoryError("Unable to allocate 9 GiB")
        return real(self, network, batch, smoothing=smoothing)

    monkeypatch.setattr(Language, "loss", narrow)
    state = TrainingState(1)
    learner.step(state, 0.5)
    assert said == ["out of memory at step 1; using 2 micro-batches of 2."] and state.tokens == 48


def test_a_batch_that_does_not_fit_is_taken_in_micro_batches_before_memory_is_full(tmp_path, monkeypatch):
    said = []
    learner = made(stack(), say=said.append)
    needed = learner.memory(TrainingState(1)).total
    monkeypatch.setattr("chainrule.storage.environment.memory", lambda: 2.1 * needed)
    learner.fit_in_memory(state := TrainingState(1))
    assert (state.accumulation, said) == (1, [])
    monkeypatch.setattr("chainrule.storage.environment.memory", lambda: 1.6 * needed)
    learner.fit_in_memory(state)
    assert (state.accumulation, said) == (2, ["batch of 4 does not fit in memory; using 2 micro-batches of 2."])
    learner.place = "GPU"
    learner.fit_in_memory(state := TrainingState(1))
    assert state.accumulation == 1
    monkeypatch.setattr(EngineLearner, "memory", lambda self, state: np.empty((1 << 50,)))
    learner.place = "CPU"
    with pytest.raises(ChainruleError, match="micro-batches of one row. Try a smaller model.width or model.context"):
        learner.fit_in_memory(TrainingState(1))
    monkeypatch.undo()
    monkeypatch.setattr("chainrule.storage.environment.memory", lambda: 1.6 * needed)
    _, result, _ = trained(TRANSFORMER, tmp_path, budget=Budget(steps=2))
    assert result.state.accumulation == 2


def test_the_average_of_the_engine_follows_its_equation(tmp_path):
    whole, _, _ = trained(TRANSFORMER, tmp_path, ema=0.5, budget=Budget(steps=3), evaluate_every=1, keep=9)
    average = exported(stack())
    for step in (1, 2, 3):
        decay = min(0.5, (1 + step) / (10 + step))
        now = open_tensors(tmp_path / f"step-{step:09d}" / "model.safetensors")
        average = {name: decay * value + (1 - decay) * now[name] for name, value in average.items()}
    for name, value in exported(whole).items():
        np.testing.assert_allclose(value, average[name], rtol=1e-5, atol=1e-7, err_msg=name)


def test_the_engine_prints_the_messages_of_every_training(tmp_path):
    network, fitted, said = trained(TRANSFORMER, tmp_path, evaluate_every=1, schedule="constant",
                                    optimizer={"name": "adamw", "rate": 0.1}, budget=Budget(steps=40))
    size = sum(each.value.size for each in network.parameters())
    assert fitted.parameters == size
    assert re.fullmatch(rf"{size:,} parameters; 40 steps of 48 tokens, 1,920 in all \(1.3 times the text\); about \d+ "
                        r"s and 1 MiB of memory on the CPU\.", said[0])
    assert not any("step 5 writes" in line for line in said) and "step 6 writes: 'a'" in said
    assert fitted.training["loss"] == fitted.metrics[-2]["loss"]
    assert fitted.advice[0].endswith("a smaller training.budget, or a higher model.dropout.rate.")


@pytest.mark.parametrize("shape", [TRANSFORMER, LSTM], ids=["transformer", "lstm"])
def test_the_memory_that_is_forecast_is_about_what_a_step_takes(shape):
    network = stack(replace(shape, width=64, context=32))
    learner = made(network)
    found = learner.memory(TrainingState(1))
    assert found.weights == found.gradients == found.optimizer / 2 == sum(p.value.nbytes for p in network.parameters())
    tracemalloc.start()
    learner.timed_step(TrainingState(1))
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.6 < (found.gradients + found.activations + found.logits) / taken < 1.2


def test_a_loss_that_is_not_finite_changes_nothing_and_ends_training(tmp_path):
    network = stack()
    learner = made(network, say=lambda line: None)
    network.norm.gain.value[0] = np.nan
    before = {name: value.copy() for name, value in exported(network).items()}
    state = TrainingState(1)
    learner.step(state, 0.1)
    assert state.skipped == 1
    for name, value in exported(network).items():
        np.testing.assert_array_equal(value, before[name])
    with pytest.raises(ChainruleError, match="not finite in 3 steps in a row"):
        for _ in range(5):
            learner.step(state, 0.1)


def test_flops_are_counted_as_cost_counts_them():
    pytest.importorskip("torch")
    from chainrule.models.cost.counting import counted

    expected = sum(part.training for part in counted(TRANSFORMER, 20, 12))
    found = stack().flops_per_token(12)
    assert found == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("change", "said"), [
    ("model.s.heads=3", r"model\.s\.heads = 3, expected a divisor of width 128"),
    ("model.pattern=cf", "model.c = 'gated_convolution', expected attention or elman or .*no other part."),
    ("training.optimizer=muon", "no engine optimizer named 'muon'"),
    ("training.optimizer.rate=0", "expected more than 0"),
    ("training.reading=contiguous", "expected 'windows' for attention, learned positions, and"),
    ("training.precision=bfloat16", "expected 'float32' or 'float64'"),
])
def test_a_wrong_recipe_of_the_engine_is_reported_and_leaves_nothing_behind(change, said, tmp_path):
    from chainrule import train
    from chainrule.errors import UsageError

    (tmp_path / "text.txt").write_text("the cat sat on the mat.\n" * 9)
    with pytest.raises(UsageError, match=said):
        train("engine-transformer", tmp_path / "text.txt", tmp_path / "run", overrides=["tokenizer=bytes", change])
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


BLOCKED = '''
import sys


class Blocked:
    """Finds no torch."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


sys.meta_path.insert(0, Blocked)
from chainrule.cli.app import main

main(sys.argv[1:])
'''


def blocked(folder, *words):
    done = subprocess.run([sys.executable, "-c", BLOCKED, *words], cwd=folder, text=True, capture_output=True,
                          timeout=600, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_torch_is_needed_to_know_the_cost(tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat, and the dog lay by the door.\n" * 40)
    found = json.loads(blocked(tmp_path, "cost", "engine-lstm", "--data", "text.txt", "--json", "tokenizer=characters",
                               "model.width=16", "model.context=16", "training.budget.epochs=2"))
    assert found["run"]["tokens"] == 2 * (40 * 53 + 1) and found["vocabulary"] == 22, "19 characters and three marks"
    assert found["training_bytes"]["weights"] == 4 * found["parameters"] > 0 < found["speed"]["tokens"]


@pytest.mark.parametrize("recipe", ["engine-nnlm", "engine-lstm", "engine-transformer"])
def test_no_torch_is_needed_to_train_evaluate_and_generate(recipe, tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat, and the dog lay by the door.\n" * 40)
    blocked(tmp_path, "train", recipe, "--data", "text.txt", "--out", "run", "tokenizer=characters", "model.width=16",
            "model.context=16", "training.budget.steps=60", "training.batch=4", "training.optimizer.rate=0.02")
    found = json.loads(blocked(tmp_path, "evaluate", "run", "--data", "text.txt", "--json"))
    assert found["perplexity"] < 12, "it has learned something: there are 19 characters"
    assert len(blocked(tmp_path, "generate", "run", "--prompt", "the ", "--max-tokens", "5")) > 4
