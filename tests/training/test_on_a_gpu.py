"""Training on a CUDA device: the host's numbers, the same again and after an interruption; its chance is its own."""

import json
from dataclasses import replace

import pytest
import torch
from small import LSTM, TRANSFORMER, VOCABULARY, planned, silent, text

from chainrule.training.callbacks import Callbacks
from chainrule.training.from_ids import train_ids
from chainrule.training.plan import Budget

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
SHAPES = {"transformer": TRANSFORMER, "lstm": LSTM}


def losses(shape, plan, workspace, device="cuda", callbacks=None):
    train_ids(shape, plan, text(), text(150, seed=1), VOCABULARY, workspace, device=device,
              callbacks=callbacks or Callbacks(silent))
    rows = [json.loads(line) for line in (workspace / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [row["loss"] for row in rows if row.get("loss") is not None]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_seed_gives_the_same_curve_again_and_another_gives_another(shape, tmp_path):
    one, two, other = (losses(shape, planned(seed=seed, compile="off"), tmp_path / name)
                       for name, seed in (("one", 3), ("two", 3), ("other", 4)))
    assert one == pytest.approx(two, rel=1e-6)
    assert one != pytest.approx(other, rel=1e-5)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_training_on_a_gpu_gives_the_losses_of_the_cpu(shape, tmp_path):
    """Without dropout, whose draws are other ones on a device."""
    plain = type(shape)(**{**vars(shape), "dropout": {"name": "independent", "rate": 0.0}})
    plan = planned(compile="off")
    host = losses(plain, plan, tmp_path / "cpu", "cpu")
    assert losses(plain, plan, tmp_path / "gpu") == pytest.approx(host, rel=1e-5)


class Stops(Exception):
    """In the middle of training."""


def test_an_interrupted_training_continues_as_if_uninterrupted(tmp_path):
    def stop(facts):
        if facts["step"] == 8:
            raise Stops

    plan = planned(compile="off")
    with pytest.raises(Stops):
        losses(TRANSFORMER, plan, tmp_path / "cut", callbacks=Callbacks(silent, show=stop))
    assert losses(TRANSFORMER, plan, tmp_path / "cut") == pytest.approx(losses(TRANSFORMER, plan, tmp_path / "whole"),
                                                                        rel=1e-6)


def test_the_random_state_of_the_caller_is_not_changed(tmp_path):
    torch.manual_seed(11)
    host, device = torch.get_rng_state(), torch.cuda.get_rng_state()
    losses(TRANSFORMER, planned(compile="off"), tmp_path / "run")
    assert torch.equal(torch.get_rng_state(), host)
    assert torch.equal(torch.cuda.get_rng_state(), device)


WAYS = [{"precision": "bfloat16"}, {"precision": "float16"}, {"compile": "on"}, {"accumulation": 3, "ema": 0.9},
        {"optimizer": {"name": "muon", "rate": 0.02}, "precision": "bfloat16", "compile": "on"}]


@pytest.mark.parametrize("changes", WAYS, ids=str)
def test_every_way_of_training_learns(changes, tmp_path):
    plan = planned(compile="off", budget=Budget(steps=300), log_every=20, optimizer={"name": "adamw", "rate": 0.02})
    found = losses(TRANSFORMER, replace(plan, **changes), tmp_path / "run")
    assert found[-1] < found[0] - 0.3
