"""Checkpoint averaging: the run holds the mean of the weights at the last evaluations, also after an interruption."""

import os
import signal

import numpy as np
import pytest
import torch
from small import TRANSFORMER, planned, silent, train

from chainrule.storage.tensors import open_tensors
from chainrule.training.callbacks import Callbacks
from chainrule.training.plan import Budget
from chainrule.training.weights import weights


def interrupting(step):
    def show(facts):
        if facts["step"] == step:
            os.kill(os.getpid(), signal.SIGINT)
    return Callbacks(silent, show=show)


@pytest.mark.parametrize("patience", [None, 2])
def test_the_weights_of_the_last_evaluations_are_averaged(patience, tmp_path):
    plan = planned(average=3, evaluate_every=2, keep=1, patience=patience, budget=Budget(steps=10), save_every=0)
    network, fitted = train(TRANSFORMER, plan, tmp_path / "one")
    last = fitted.kept if patience else 10
    steps = [step for step in range(2, 11, 2) if step <= last][-3:]
    parts = [open_tensors(tmp_path / "one" / f"step-{step:09d}" / "model.safetensors") for step in steps]
    for name, tensor in weights(network).items():
        np.testing.assert_allclose(tensor.numpy(), np.mean([part[name] for part in parts], axis=0), rtol=1e-6)
    for step in (5, 7):
        with pytest.raises(KeyboardInterrupt):
            train(TRANSFORMER, plan, tmp_path / "two", callbacks=interrupting(step))
    again, _ = train(TRANSFORMER, plan, tmp_path / "two")
    for (_, one), (_, other) in zip(weights(network).items(), weights(again).items(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
