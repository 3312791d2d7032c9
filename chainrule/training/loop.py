"""The training loop, from top to bottom: the same for torch and the engine."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from chainrule.errors import ChainruleError
from chainrule.recipe.registry import build
from chainrule.storage.json_files import read_object, read_rows
from chainrule.training import checkpoints
from chainrule.training.advice import advice
from chainrule.training.budget import BudgetClock, Elapsed
from chainrule.training.callbacks import Callbacks, Say
from chainrule.training.forecast import forecast
from chainrule.training.learner import Learner, StepAbandoned
from chainrule.training.loggers._logger import Session
from chainrule.training.metrics_log import MetricsLog
from chainrule.training.plan import Plan
from chainrule.training.state import TrainingState
from chainrule.training.stopping import Stop
from chainrule.training.workspace import LOGS, METRICS, Workspace, differences

STATE, CLOCK = "state.json", "clock.json"
EVALUATIONS = 10  # in a budget, where the plan does not say how often
FIRST_SAMPLE = 0.15  # share of the budget before the first sample: earlier ones are noise
SHOWN = 80  # characters of a sample; metrics.jsonl has all of it


@dataclass(frozen=True)
class Fitted:
    """The results of training; the network has the final weights."""

    state: TrainingState
    parameters: int
    seconds: float  # of the budget's clock
    flops: int  # of all steps, as `chainrule cost` counts them
    tokens_per_second: float
    peak_memory: int
    kept: int  # the step whose weights these are: the best with `patience`, otherwise the last
    metrics: list[dict[str, Any]]
    advice: list[str]

    @property
    def training(self) -> dict[str, float]:
        """Loss and bits per byte on the training text, from the last logged steps."""
        rows = [row for row in self.metrics if row.get("loss") is not None]
        return {key: rows[-1][key] for key in ("loss", "bits_per_byte") if rows and rows[-1].get(key) is not None}


def fit(learner: Learner, workspace: Workspace, callbacks: Callbacks, *, measure_first: bool = False) -> Fitted:
    """Trains until the budget is spent; continues where an interrupted training left off.

    `measure_first` is for a network that has learned something before: it is evaluated before the first step too.
    The final weights are the moving average if there is one, and the best evaluation's with `patience`. Of several
    processes, the first reads the clock, writes the files, decides, and broadcasts its decisions.
    """
    plan, say, group = learner.plan, callbacks.say, learner.group
    with ExitStack() as stack:
        if group.leads:
            stack.enter_context(workspace)
        stack.enter_context(learner.isolated_rng())
        newest = group.broadcast(workspace.newest() if group.leads else None)
        state, before = TrainingState(plan.accumulation), Elapsed()
        if newest is not None:
            state, before = _resumed(newest, learner, say)
        clock = BudgetClock(plan.budget, learner.data, learner.flops_per_token(), before)
        log = _opened_log(workspace, learner, state, clock, callbacks)
        stack.callback(log.close)
        stop = Stop()
        stack.callback(stop.restore)
        _prepare(learner, state, clock, stop, say)
        saved = _begun(workspace, learner, state, log, clock) if measure_first and newest is None else time.monotonic()

        clock.run()
        while group.broadcast(not clock.spent(state) and not state.out_of_patience(plan.patience)):
            progress = group.broadcast(clock.middle(state))
            try:
                with clock.a_step():
                    outcome = learner.step(state, progress)
            except StepAbandoned:
                _save(workspace, learner, state, log, clock)
                say(_stop_message(plan, state))
                stop.raise_signal(stop.number or 0)
                raise
            if ended := group.broadcast(clock.spent(state)):
                clock.halt()
            log.progress(_facts(state, clock, outcome.loss, learner))
            if state.step % plan.log_every == 0 or ended:
                _log(log, state, learner, clock)
            due = group.broadcast(ended or _is_due(plan, state, clock))
            if due:
                _evaluate(learner, state, log, clock, say)
            stopped = int(group.maximum(stop.number or 0))
            if due or stopped or group.broadcast(time.monotonic() - saved >= plan.save_every):
                saved = _save(workspace, learner, state, log, clock)
            if stopped:
                say(_stop_message(plan, state))
                stop.raise_signal(stopped)

        clock.halt()
        if state.last.get("step") != state.step:  # the last second passed between two steps
            _evaluate(learner, state, log, clock, say)
            _save(workspace, learner, state, log, clock)
            stop.raise_signal(int(group.maximum(stop.number or 0)))
        return _finished(workspace, learner, state, clock)


def _opened_log(workspace: Workspace, learner: Learner, state: TrainingState, clock: BudgetClock,
                callbacks: Callbacks) -> MetricsLog:
    if not learner.group.leads:
        return MetricsLog(None, state, callbacks)
    session = Session(workspace.path / LOGS, workspace.name, state.step, workspace.identity)
    loggers = [build("training/loggers", choice, session) for choice in learner.plan.loggers]
    return MetricsLog(workspace.path, state, callbacks, flops_per_token=clock.flops_per_token, loggers=loggers)


def _prepare(learner: Learner, state: TrainingState, clock: BudgetClock, stop: Stop, say: Say) -> None:
    """Chooses micro-batches that fit in memory, and says what training will take.

    Meanwhile a signal acts at once, since there is nothing to save yet. Several processes agree to stop, after a step.
    """
    group = learner.group
    if group.size > 1:
        stop.listen()
    if not clock.spent(state):
        learner.fit_in_memory(state)
        if group.leads:
            say(forecast(learner, state, clock))
        state.accumulation = int(group.maximum(state.accumulation))
    if group.size == 1:
        stop.listen()
        learner.should_stop = lambda: stop.number is not None


def _begun(workspace: Workspace, learner: Learner, state: TrainingState, log: MetricsLog, clock: BudgetClock) -> float:
    """Evaluates a model as it came, before the first step, and writes a checkpoint; returns when it was written."""
    _evaluate(learner, state, log, clock, learner.say)
    clock.evaluating = 0.0  # the clock does not run yet
    return _save(workspace, learner, state, log, clock)


def _is_due(plan: Plan, state: TrainingState, clock: BudgetClock) -> bool:
    """Whether an evaluation is due: at regular intervals, if there is time."""
    if plan.evaluate_every is not None:
        return state.step % plan.evaluate_every == 0
    tenths = int(min(1.0, clock.progress(state.step)) * EVALUATIONS)
    due, state.tenths = tenths > state.tenths, tenths
    return due and clock.affords(state)


def _evaluate(learner: Learner, state: TrainingState, log: MetricsLog, clock: BudgetClock, say: Say) -> None:
    """Evaluates the model on the validation text, and generates samples."""
    _check_finite(learner, state)
    if state.step not in state.evaluations:
        state.evaluations.append(state.step)
    before, writes, group = clock.evaluating, clock.progress(state.step) >= FIRST_SAMPLE, learner.group
    with clock.an_evaluation():
        found, samples = group.broadcast(learner.evaluate(learner.micro_batch_rows(state), writes=writes)
                                    if group.leads else None)
    if found:
        found = {**found, **learner.data.measured_in_validation(found["loss"])}
        state.evaluated(found, learner.task.rank(found))
        measured = ", ".join(f"{name.replace('_', ' ')} {value:.4f}" for name, value in found.items())
        say(f"step {state.step:,}: validation {measured}")
    for text in samples:
        say(f"step {state.step:,} writes: {text[:SHOWN] + '…' * (len(text) > SHOWN)!r}")
    state.last = {**state.last, "step": state.step}
    facts = {f"valid_{key}": value for key, value in found.items()} | ({"samples": samples} if samples else {})
    if facts:
        log.row(state, facts, {"seconds": clock.elapsed(), "evaluating": clock.evaluating - before})


def _log(log: MetricsLog, state: TrainingState, learner: Learner, clock: BudgetClock) -> None:
    mean = state.loss_sum / state.loss_steps if state.loss_steps else None
    more = {"bits_per_byte": None} if mean is None else {"bits_per_byte": None, **learner.data.measured(mean)}
    log.row(state, {"loss": mean, **more, "rate": learner.rate, "gradient_norm": state.norm, "skipped": state.skipped},
            {"seconds": clock.elapsed()})
    state.loss_sum, state.loss_steps = 0.0, 0


def _facts(state: TrainingState, clock: BudgetClock, loss: float, learner: Learner) -> dict[str, Any]:
    progress = 1.0 if clock.spent(state) else min(1.0, clock.progress(state.step))
    return {"step": state.step, "progress": progress, "loss": loss, "bits_per_byte": None,
            **learner.data.measured(loss), "tokens_per_second": state.tokens / max(clock.stepping, 1e-9),
            "seconds_left": clock.left(state)}


def _save(workspace: Workspace, learner: Learner, state: TrainingState, log: MetricsLog, clock: BudgetClock) -> float:
    """Writes a checkpoint; returns when it was written."""
    if learner.plan.keep:
        _check_finite(learner, state)
        files = learner.checkpoint()
        log.sync()

        def fill(folder: Path) -> None:
            checkpoints.write(folder, files)
            (folder / STATE).write_text(json.dumps(state.to_json(), indent=1), encoding="utf-8")
            (folder / CLOCK).write_text(json.dumps(asdict(clock.so_far()) | learner.machine()), encoding="utf-8")

        best = int(state.best.get("step", state.step))
        if learner.group.leads:
            averaged = [step for last in (best, state.step) for step in state.averaged(learner.plan.average, last)]
            workspace.save(state.step, fill, keep=learner.plan.keep, spared={best, *averaged})
    return time.monotonic()


def _check_finite(learner: Learner, state: TrainingState) -> None:
    """Ends a training whose weights are NaN or infinite; what it saved before stays."""
    if learner.group.maximum(not learner.finite()):
        raise ChainruleError(f"training diverged: the weights are not finite after step {state.step:,}. No run was "
                             f"saved; checkpoints from before are kept. {learner.stability_hint}; with --force, "
                             "since the recipe is then a different one.")


def _resumed(newest: Path, learner: Learner, say: Say) -> tuple[TrainingState, Elapsed]:
    """The training state and times of the newest checkpoint."""
    state = TrainingState(**read_object(newest / STATE))
    then = read_object(newest / CLOCK)
    before = Elapsed(**{each.name: then.pop(each.name) for each in fields(Elapsed) if each.name in then})
    learner.restore(checkpoints.reader(newest))
    say(f"resuming at step {state.step:,}, after {state.tokens:,} tokens and {before.seconds:,.0f} s.")
    if changes := differences(then, learner.machine()):
        say(f"results may differ slightly from an uninterrupted run: {', '.join(changes)}.")
    return state, before


def _stop_message(plan: Plan, state: TrainingState) -> str:
    if plan.keep:
        return f"stopped after step {state.step:,}; the same command continues from there."
    return f"stopped after step {state.step:,}; nothing was kept, since training.keep = 0."


def _finished(workspace: Workspace, learner: Learner, state: TrainingState, clock: BudgetClock) -> Fitted:
    is_best = state.keeps_best(learner.plan.patience)
    kept = int(state.best["step"]) if is_best else state.step
    steps = state.averaged(learner.plan.average, kept) or ([kept] if is_best else [])
    if len(steps) > 1:
        learner.say(f"the weights are the mean of those after the steps {', '.join(f'{step:,}' for step in steps)}.")
    learner.finish(checkpoints.mean_of([workspace.path / f"step-{step:09d}" for step in steps]) if steps else None)
    learner.group.wait()  # the leader removes the workspace soon
    rows = read_rows(workspace.path / METRICS) if learner.group.leads else []
    return Fitted(state, learner.size, clock.elapsed(), round(state.tokens * clock.flops_per_token),
                  state.tokens / max(clock.stepping, 1e-9), learner.peak_memory(), kept, rows,
                  advice(state, learner, keeps_best=is_best))
