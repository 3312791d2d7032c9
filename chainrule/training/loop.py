"""The training loop, from top to bottom: for every learner, whatever it computes in."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from chainrule.tasks.task import Task
from chainrule.training.advice import advice
from chainrule.training.budget import Clock, Spending
from chainrule.training.course import Course
from chainrule.training.forecast import forecast
from chainrule.training.journal import Journal
from chainrule.training.learner import Learner
from chainrule.training.plan import Plan
from chainrule.training.stopping import stopping
from chainrule.training.telling import Telling
from chainrule.training.workspace import METRICS, Say, Workspace, differences

COURSE, CLOCK = "course.json", "clock.json"
EVALUATIONS = 10  # in a budget, where the plan does not say how often
NOISE = 0.15  # the share of a budget before which nobody wants to read what the model writes
SHOWN = 80  # characters of a sample; metrics.jsonl has all of it


@dataclass(frozen=True)
class Fitted:
    """What training came to; the model has the weights for use."""

    course: Course
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
        """Loss and bits per byte on the training text, in the last steps that were written down."""
        rows = [row for row in self.metrics if row.get("loss") is not None]
        return {key: rows[-1][key] for key in ("loss", "bits_per_byte") if rows and rows[-1].get(key) is not None}


def fit(learner: Learner, workspace: Path, telling: Telling) -> Fitted:
    """Trains until the budget is spent; goes on where an interrupted training left off.

    The weights for use are the moving average's where there is one, and the best evaluation's with `patience`.
    """
    plan, say = learner.plan, telling.say
    with ExitStack() as stack:
        place = stack.enter_context(Workspace(workspace, telling.identity or {}, force=telling.force, say=say))
        stack.enter_context(learner.own_chance())
        course, clock = _resumed(place, learner) or (Course(plan.accumulation), Clock())
        spending = Spending(plan.budget, learner.task, learner.flops_per_token(), clock)
        journal = Journal(place.path, course, telling.show, flops_per_token=spending.flops_per_token,
                          board=learner.tensorboard)
        stack.callback(journal.close)
        stop = stack.enter_context(stopping())
        if not spending.spent(course):
            learner.make_room(course)
            say(forecast(learner, course, spending))
        saved = time.monotonic()

        spending.run()
        while not spending.spent(course) and not course.gave_up(plan.patience):
            progress = spending.middle(course)
            with spending.a_step():
                outcome = learner.step(course, progress)
            if spending.spent(course):
                spending.halt()
            journal.progress(_facts(course, spending, outcome.loss, learner.task))
            if course.step % plan.log_every == 0 or spending.spent(course):
                _log(journal, course, learner, spending)
            if _is_due(plan, course, spending):
                _evaluate(learner, course, journal, spending, say)
                saved = _save(place, learner, course, journal, spending)
            if stop.number is not None or time.monotonic() - saved >= plan.save_every:
                saved = _save(place, learner, course, journal, spending)
            if stop.number is not None:
                say(_farewell(plan, course))
                stop.obey()

        spending.halt()
        if course.last.get("step") != course.step:  # the last second passed between two steps
            _evaluate(learner, course, journal, spending, say)
            _save(place, learner, course, journal, spending)
            stop.obey()
        return _finished(place, learner, course, spending)


def _is_due(plan: Plan, course: Course, spending: Spending) -> bool:
    """An evaluation: every so often, where there is time, and at the end."""
    if spending.spent(course):
        return True
    if plan.evaluate_every is not None:
        return course.step % plan.evaluate_every == 0
    tenths = int(min(1.0, spending.progress(course.step)) * EVALUATIONS)
    due, course.tenths = tenths > course.tenths, tenths
    return due and spending.affords(course)


def _evaluate(learner: Learner, course: Course, journal: Journal, spending: Spending, say: Say) -> None:
    """Measures the weights for use on the text kept aside, and lets them write."""
    before, writes = spending.evaluating, spending.progress(course.step) >= NOISE
    with spending.an_evaluation():
        found, samples = learner.evaluate(learner.rows_at_once(course), writes=writes)
    if found:
        course.evaluated(found)
        measured = ", ".join(f"{name.replace('_', ' ')} {value:.4f}" for name, value in found.items())
        say(f"step {course.step:,}: validation {measured}")
    for text in samples:
        say(f"step {course.step:,} writes: {text[:SHOWN] + '…' * (len(text) > SHOWN)!r}")
    course.last = {**course.last, "step": course.step}
    facts = {f"valid_{key}": value for key, value in found.items()} | ({"samples": samples} if samples else {})
    if facts:
        journal.row(course, facts, {"seconds": spending.elapsed(), "evaluating": spending.evaluating - before})


def _log(journal: Journal, course: Course, learner: Learner, spending: Spending) -> None:
    mean = course.loss_sum / course.loss_steps if course.loss_steps else None
    bits = None if mean is None else learner.task.bits_per_byte(mean)
    journal.row(course, {"loss": mean, "bits_per_byte": bits, "rate": learner.rate, "gradient_norm": course.norm,
                         "skipped": course.skipped}, {"seconds": spending.elapsed()})
    course.loss_sum, course.loss_steps = 0.0, 0


def _facts(course: Course, spending: Spending, loss: float, task: Task) -> dict[str, Any]:
    progress = 1.0 if spending.spent(course) else min(1.0, spending.progress(course.step))
    return {"step": course.step, "progress": progress, "loss": loss, "bits_per_byte": task.bits_per_byte(loss),
            "tokens_per_second": course.tokens / max(spending.stepping, 1e-9), "seconds_left": spending.left(course)}


def _save(place: Workspace, learner: Learner, course: Course, journal: Journal, spending: Spending) -> float:
    """A checkpoint of everything that the next step depends on; when it was written."""
    if learner.plan.keep:
        journal.settle()

        def fill(folder: Path) -> None:
            learner.save(folder)
            (folder / COURSE).write_text(json.dumps(course.plain(), indent=1), encoding="utf-8")
            (folder / CLOCK).write_text(json.dumps(asdict(spending.clock()) | learner.machine()), encoding="utf-8")

        best = course.best.get("step")
        place.save(course.step, fill, keep=learner.plan.keep, best=None if best is None else int(best))
    return time.monotonic()


def _resumed(place: Workspace, learner: Learner) -> tuple[Course, Clock] | None:
    newest = place.newest()
    if newest is None:
        return None
    course = Course(**json.loads((newest / COURSE).read_text(encoding="utf-8")))
    then = json.loads((newest / CLOCK).read_text(encoding="utf-8"))
    clock = Clock(**{each.name: then.pop(each.name) for each in fields(Clock) if each.name in then})
    learner.restore(newest)
    place.say(f"resuming at step {course.step:,}, after {course.tokens:,} tokens and {clock.seconds:,.0f} s.")
    if changes := differences(then, learner.machine()):
        place.say(f"the last digits may differ from those of a training in one go: {', '.join(changes)}.")
    return course, clock


def _farewell(plan: Plan, course: Course) -> str:
    if plan.keep:
        return f"stopped after step {course.step:,}; the same command goes on from there."
    return f"stopped after step {course.step:,}; nothing was kept, since training.keep = 0."


def _finished(place: Workspace, learner: Learner, course: Course, spending: Spending) -> Fitted:
    is_best = course.keeps_the_best(learner.plan.patience)
    kept = int(course.best["step"]) if is_best else course.step
    learner.finish(place.path / f"step-{kept:09d}" if is_best else None)
    rows = [json.loads(line) for line in (place.path / METRICS).read_text(encoding="utf-8").splitlines()]
    return Fitted(course, learner.size, spending.elapsed(), round(course.tokens * spending.flops_per_token),
                  course.tokens / max(spending.stepping, 1e-9), learner.peak_memory(), kept, rows,
                  advice(course, learner, keeps_the_best=is_best))
