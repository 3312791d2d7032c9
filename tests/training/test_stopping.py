"""A signal ends even a long step soon, and batches that would never end are refused."""

import os
import signal

import pytest
from small import SHAPES, TRANSFORMER, planned, train

from chainrule.errors import OptionError
from chainrule.training.callbacks import Callbacks
from chainrule.training.plan import Plan
from chainrule.training.torch_learner import TorchLearner


def files(workspace):
    """Everything that must not depend on interruptions: metrics, and the files of the last checkpoint."""
    last = max(workspace.glob("step-*"))
    tensors = [last / f"{name}.safetensors" for name in ("model", "optimizer", "memory")]
    return [last.name] + [path.read_bytes() for path in (workspace / "metrics.jsonl", last / "state.json", *tensors)]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_signal_between_micro_batches_gives_up_the_step_and_training_ends_byte_equal(shape, tmp_path, monkeypatch):
    plan, said, seen, real = planned(accumulation=3), [], [], TorchLearner._rows
    train(shape, plan, tmp_path / "whole")

    def micro_batch(self, state, begin, end, slices):
        seen.append(begin)
        if said and len(seen) == told + 3 * 2 + 2:  # the second micro-batch of the third step
            os.kill(os.getpid(), signal.SIGTERM)
        return real(self, state, begin, end, slices)

    def say(line):
        nonlocal told
        said.append(line)
        told = told or len(seen)

    told = 0
    monkeypatch.setattr(TorchLearner, "_rows", micro_batch)
    with pytest.raises(SystemExit) as end:
        train(shape, plan, tmp_path / "cut", callbacks=Callbacks(say))
    assert (end.value.code, len(seen) - told) == (143, 3 * 2 + 2)
    assert said[-1] == "stopped after step 2; the same command continues from there."
    monkeypatch.undo()
    train(shape, plan, tmp_path / "cut")
    assert files(tmp_path / "whole") == files(tmp_path / "cut")


@pytest.mark.parametrize(("wrong", "said"), [
    ({"batch": 10**12}, "training.batch = 1000000000000, expected at most 16,777,216."),
    ({"batch": 0}, "training.batch = 0, expected at least 1.")])
def test_batches_have_bounds(wrong, said):
    with pytest.raises(OptionError) as error:
        Plan(**wrong)
    assert str(error.value) == said


def test_a_batch_whose_ids_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("chainrule.tasks._text.memory", lambda: 2 * 32 * 7 * 1000)
    with pytest.raises(OptionError, match=r"training.batch = 1001, expected at most 1,000 rows of 7 tokens"):
        train(TRANSFORMER, planned(batch=1001), tmp_path)
