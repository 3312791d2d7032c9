"""NT-ASGD: when averaging begins, what is averaged, and that an interruption changes nothing."""

import pytest
import torch
from small import LSTM, learner, planned, text, train
from test_fit import files, interrupted

from chainrule.errors import OptionError
from chainrule.training.averaging import keeps_average, triggered
from chainrule.training.callbacks import Callbacks
from chainrule.training.plan import Budget
from chainrule.training.state import TrainingState
from chainrule.training.weights import weights

NTASGD = {"name": "ntasgd", "rate": 20.0, "non_monotone": 1}


def by_algorithm_1(losses, n):
    """Merity, Keskar & Socher 2018, algorithm 1: T = 0, logs empty; at each evaluation t, then logs grow."""
    logs = []
    for t, v in enumerate(losses):
        if t > n and v > min(logs[:t - n]):
            return t
        logs.append(v)
    return None


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("losses", [[], [3, 2, 1], [5, 4, 3, 3.5, 3.2, 3.1, 4.5, 2, 2, 2, 6], [1] * 9,
                                    [1, 2, 3, 4, 5, 6, 7, 8, 9], [9, 1, 8, 7, 6, 5, 4, 3, 2]])
def test_averaging_begins_where_the_algorithm_says(losses, n):
    assert triggered(losses, n) == by_algorithm_1(losses, n)


def test_the_model_is_the_mean_of_the_weights_since_then():
    made = learner(LSTM, planned(optimizer=NTASGD), valid=text(60, seed=1))
    state, seen = TrainingState(1), []
    for step in range(1, 10):
        state.step = step
        with torch.no_grad():
            for each in made.network.parameters():
                each.add_(0.1 * step)
        if step in (2, 4, 6):
            state.evaluations.append(step)
            state.losses.append(float(step))  # the third, after step 6, is worse than the first
        made.average.update(state)
        seen.append({name: tensor.clone() for name, tensor in weights(made.network).items()})
        since = seen[6:] if step > 6 else seen[-1:]
        for name, tensor in made.average.tensors.items():
            torch.testing.assert_close(tensor, torch.stack([each[name] for each in since]).mean(0))


@pytest.mark.parametrize("reading", ["contiguous", "varied"])
def test_an_interrupted_training_ends_byte_equal(reading, tmp_path):
    plan = planned(optimizer=NTASGD, schedule="constant", evaluate_every=2, reading=reading, budget=Budget(steps=18))
    stack, fitted = train(LSTM, plan, tmp_path / "whole")
    began = triggered(fitted.state.losses, 1)
    assert began is not None and fitted.state.evaluations[began] < 16, "or the test would test little"
    again, resumed = interrupted(LSTM, plan, tmp_path / "cut", [3, 9, 17])
    assert files(tmp_path / "whole") == files(tmp_path / "cut")
    assert fitted.metrics == resumed.metrics
    assert all(torch.equal(tensor, weights(again)[name]) for name, tensor in weights(stack).items())


def test_without_validation_it_says_that_it_does_nothing():
    said = []
    learner(LSTM, planned(optimizer=NTASGD), Callbacks(said.append))
    assert "training.optimizer=ntasgd does nothing without validation text" in said[0]


def test_a_second_average_is_refused():
    with pytest.raises(OptionError, match="training.ema = 0.9, expected null. The optimizer has an average of its own"):
        learner(LSTM, planned(optimizer=NTASGD, ema=0.9))
    with pytest.raises(OptionError, match="ntasgd.non_monotone = 0, expected at least 1 evaluation"):
        learner(LSTM, planned(optimizer={"name": "ntasgd", "non_monotone": 0}))
    assert keeps_average(planned(optimizer=NTASGD)) and keeps_average(planned(ema=0.5)) and not keeps_average(planned())
