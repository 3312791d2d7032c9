"""A budget in seconds, on a clock of the tests: what counts, when it ends, and how much of it evaluations may take."""

import os
import signal

import pytest
from small import LSTM, TRANSFORMER, planned, silent, text, train

from chainrule.tasks._text import TextBatches
from chainrule.tasks.language import Language
from chainrule.training.callbacks import Callbacks
from chainrule.training.curve import curve
from chainrule.training.plan import Budget

PREPARED = 2  # trial steps before the clock runs


class Time:
    """Stands still but for what steps and evaluations are said to take."""

    def __init__(self, monkeypatch, *, step, evaluation=0.0):
        self.now, self.steps, self.evaluations = 1000.0, 0, 0
        monkeypatch.setattr("chainrule.training.budget.time", self)
        self._wrap(monkeypatch, TextBatches, "batch", step, "steps")
        self._wrap(monkeypatch, Language, "validate", evaluation, "evaluations")

    def monotonic(self):
        return self.now

    def _wrap(self, monkeypatch, kind, name, seconds, counter):
        real = getattr(kind, name)

        def slow(*args):
            self.now += seconds
            setattr(self, counter, getattr(self, counter) + 1)
            return real(*args)

        monkeypatch.setattr(kind, name, slow)


def seconds(amount, **more):
    return planned(budget=Budget(seconds=amount), evaluate_every=None, log_every=1, keep=1, **more)


@pytest.mark.parametrize(("budget", "step", "steps"), [(10.0, 0.3, 33), (10.0, 4.0, 2), (10.0, 3.0, 3), (1.0, 60.0, 1),
                                                       (5.0, 0.01, 500)])
def test_the_steps_are_as_many_as_fit_best_and_at_least_one(budget, step, steps, tmp_path, monkeypatch):
    time = Time(monkeypatch, step=step)
    _, fitted = train(TRANSFORMER, seconds(budget), tmp_path)
    assert fitted.state.step == time.steps - PREPARED == steps
    assert fitted.seconds == pytest.approx(steps * step)
    assert abs(fitted.seconds - budget) <= max(step / 2, step - budget)


def test_preparation_and_the_last_evaluation_do_not_count(tmp_path, monkeypatch):
    time = Time(monkeypatch, step=0.5, evaluation=30.0)
    _, fitted = train(TRANSFORMER, seconds(10.0), tmp_path, valid=text(3000, seed=1))
    assert fitted.state.step == 20 and fitted.seconds == pytest.approx(10.0)
    assert time.evaluations == 1 and time.now == pytest.approx(1000 + PREPARED * 0.5 + 10 + 30)
    last = curve(tmp_path)[-1]
    assert (last["step"], last["seconds"], last["evaluating"]) == (20, 10.0, 30.0) and "valid_loss" in last


def test_evaluations_between_steps_count_and_take_a_tenth_at_most(tmp_path, monkeypatch):
    time = Time(monkeypatch, step=0.1, evaluation=2.0)
    _, fitted = train(TRANSFORMER, seconds(100.0), tmp_path)
    assert fitted.seconds == pytest.approx(100, abs=0.2) and fitted.state.step == round((100 - 2 * 4) / 0.1)
    assert time.evaluations == 4 + 1
    seen = [row["seconds"] for row in evaluations(tmp_path)]
    assert seen == pytest.approx([12, 42, 62, 82, 100], abs=0.2)  # the first was thought to be quick, and was not


def evaluations(folder):
    return [row for row in curve(folder) if "evaluating" in row]


def test_evaluations_that_the_plan_asks_for_are_made(tmp_path, monkeypatch):
    Time(monkeypatch, step=1.0, evaluation=2.0)
    plan = planned(budget=Budget(seconds=12.0), evaluate_every=2, keep=1)
    _, fitted = train(TRANSFORMER, plan, tmp_path)
    assert [row["step"] for row in evaluations(tmp_path)] == [2, 4, 6] and fitted.seconds == pytest.approx(12.0)


def test_the_learning_rate_follows_the_seconds(tmp_path, monkeypatch):
    Time(monkeypatch, step=0.1)
    _, fitted = train(TRANSFORMER, seconds(1.0, schedule={"name": "linear", "warmup": 0.0}), tmp_path)
    rates = [row["rate"] for row in fitted.metrics if "rate" in row]
    assert len(rates) == 10 and rates == sorted(rates, reverse=True) and rates[-1] < 0.1 * rates[0]


def test_the_clock_goes_on_after_an_interruption(tmp_path, monkeypatch):
    time = Time(monkeypatch, step=0.5)

    def stop(facts):
        if facts["step"] == 7:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(LSTM, seconds(10.0), tmp_path, callbacks=Callbacks(silent, show=stop))
    time.now += 3600
    _, fitted = train(LSTM, seconds(10.0), tmp_path)
    assert fitted.state.step == 20 and fitted.seconds == pytest.approx(10.0)
