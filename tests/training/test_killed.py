"""Training in processes that are really killed, at any moment: the weights end byte-equal to those of one go."""

import gc
import multiprocessing
import os
import random
import signal

import pytest
import torch
from small import SHAPES, planned, train
from test_fit import files

from chainrule.training.plan import Budget

FORK = multiprocessing.get_context("fork")  # a child has torch loaded already
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]


def plan(steps):
    return planned(budget=Budget(steps=steps), accumulation=2, save_every=0.02, evaluate_every=7, log_every=3, ema=0.9)


def child(shape, steps, workspace):
    gc.callbacks.clear()  # a Ctrl-C that comes while one of another test's library runs would be lost
    torch.set_num_threads(1)
    try:
        train(SHAPES[shape], plan(steps), workspace)
    except KeyboardInterrupt:
        os._exit(130)
    os._exit(0)


def killed(shape, steps, workspace, chance, longest):
    """Starts training again and again and kills it, until it comes to its end; how many were killed."""
    kills = 0
    while True:
        process = FORK.Process(target=child, args=(shape, steps, workspace))
        process.start()
        process.join(chance.uniform(0.0, longest))
        if process.is_alive():
            os.kill(process.pid, chance.choice(SIGNALS))
        process.join(600)
        assert process.exitcode is not None, "still running ten minutes after the signal"
        if process.exitcode == 0:
            return kills
        assert process.exitcode in (130, 143, -signal.SIGKILL, -signal.SIGTERM, 1), process.exitcode
        kills += 1
        longest *= 1.1  # so that there is an end


@pytest.mark.parametrize("shape", SHAPES)
def test_killed_at_random_moments_it_ends_byte_equal(shape, tmp_path):
    train(SHAPES[shape], plan(60), tmp_path / "whole")
    assert killed(shape, 60, tmp_path / "cut", random.Random(1), 0.4) >= 2
    assert files(tmp_path / "whole") == files(tmp_path / "cut")


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_killed_very_often_it_ends_byte_equal(shape, tmp_path):
    for seed in range(8):
        train(SHAPES[shape], plan(200), tmp_path / f"whole{seed}")
        assert killed(shape, 200, tmp_path / f"cut{seed}", random.Random(seed), 0.3) >= 5
        assert files(tmp_path / f"whole{seed}") == files(tmp_path / f"cut{seed}"), seed
