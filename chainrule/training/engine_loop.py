"""The training loop of the engine, from top to bottom; budget, journal and checkpoints are those of every training."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from chainrule.models.engine_stack import EngineStack, imported
from chainrule.storage.tensors import open_tensors
from chainrule.tasks.engine_language import EngineLanguage
from chainrule.training.budget import Clock, Spending
from chainrule.training.course import Course
from chainrule.training.engine_learner import MODEL, EngineLearner
from chainrule.training.journal import Journal, Show, peak_memory
from chainrule.training.plan import Plan
from chainrule.training.stopping import stopping
from chainrule.training.workspace import METRICS, Say, Workspace

COURSE, CLOCK = "course.json", "clock.json"
EVALUATIONS = 10  # in a budget, where the plan does not say how often


@dataclass(frozen=True)
class EngineFitted:
    """What training came to; the stack has the weights for use."""

    course: Course
    seconds: float
    flops: int
    tokens_per_second: float
    peak_memory: int
    kept: int  # the step whose weights these are: the best with `patience`, otherwise the last
    metrics: list[dict[str, Any]]


@dataclass(frozen=True)
class Listening:
    """Whom training talks to, what it samples, and by what its unfinished state is recognized."""

    say: Say
    show: Show | None
    sample: Callable[[EngineStack], list[str]]
    identity: dict[str, Any]
    force: bool


def fit(stack: EngineStack, task: EngineLanguage, plan: Plan, workspace: Path, listening: Listening) -> EngineFitted:
    """Trains until the budget is spent; goes on where an interrupted training left off."""
    say = listening.say
    learner = EngineLearner(stack.train(), task, plan, say)  # a wrong option is told before anything is written
    with ExitStack() as around:
        place = around.enter_context(Workspace(workspace, listening.identity, force=listening.force, say=say))
        course, clock = _resumed(place, learner) or (Course(1), Clock())
        spending = Spending(plan.budget, task, stack.flops_per_token(task.context), clock)
        journal = Journal(place.path, course, listening.show, flops_per_token=spending.flops_per_token, board=False)
        around.callback(journal.close)
        stop = around.enter_context(stopping())
        saved = time.monotonic()
        spending.run()
        while not spending.spent(course) and not course.gave_up(plan.patience):
            progress = spending.middle(course)
            with spending.a_step():
                loss = learner.step(course, progress)
            if spending.spent(course):
                spending.halt()
            journal.progress(_facts(course, spending, loss, task))
            if course.step % plan.log_every == 0 or spending.spent(course):
                _log(journal, course, learner, spending)
            if _is_due(plan, course, spending):
                _evaluate(learner, course, journal, spending, listening)
                saved = _save(place, learner, course, journal, spending)
            if stop.number is not None or time.monotonic() - saved >= plan.save_every:
                saved = _save(place, learner, course, journal, spending)
            if stop.number is not None:
                say(f"stopped after step {course.step:,}; the same command goes on from there." if plan.keep else
                    f"stopped after step {course.step:,}; nothing was kept, since training.keep = 0.")
                stop.obey()
        spending.halt()
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


def _evaluate(learner: EngineLearner, course: Course, journal: Journal, spending: Spending,
              listening: Listening) -> None:
    learner.stack.train(False)
    before = spending.evaluating
    with spending.an_evaluation():
        found = learner.task.evaluate(learner.stack)
        samples = listening.sample(learner.stack)
    learner.stack.train()
    if found:
        course.evaluated(found)
        measured = ", ".join(f"{name.replace('_', ' ')} {value:.4f}" for name, value in found.items())
        listening.say(f"step {course.step:,}: validation {measured}")
    for text in samples:
        listening.say(f"step {course.step:,} writes: {text[:80]!r}")
    facts = {f"valid_{key}": value for key, value in found.items()} | ({"samples": samples} if samples else {})
    if facts:
        journal.row(course, facts, {"seconds": spending.elapsed(), "evaluating": spending.evaluating - before})


def _log(journal: Journal, course: Course, learner: EngineLearner, spending: Spending) -> None:
    mean = course.loss_sum / course.loss_steps if course.loss_steps else None
    bits = None if mean is None else learner.task.text.bits_per_byte(mean)
    journal.row(course, {"loss": mean, "bits_per_byte": bits, "rate": learner.optimizer.rate,
                         "gradient_norm": course.norm, "skipped": course.skipped}, {"seconds": spending.elapsed()})
    course.loss_sum, course.loss_steps = 0.0, 0


def _facts(course: Course, spending: Spending, loss: float, task: EngineLanguage) -> dict[str, Any]:
    progress = 1.0 if spending.spent(course) else min(1.0, spending.progress(course.step))
    return {"step": course.step, "progress": progress, "loss": loss, "bits_per_byte": task.text.bits_per_byte(loss),
            "tokens_per_second": course.tokens / max(spending.stepping, 1e-9), "seconds_left": spending.left(course)}


def _save(place: Workspace, learner: EngineLearner, course: Course, journal: Journal, spending: Spending) -> float:
    """A checkpoint of everything that the next step depends on; when it was written."""
    if learner.plan.keep:
        journal.settle()

        def fill(folder: Path) -> None:
            learner.save(folder)
            (folder / COURSE).write_text(json.dumps(course.plain(), indent=1), encoding="utf-8")
            (folder / CLOCK).write_text(json.dumps(asdict(spending.clock())), encoding="utf-8")

        best = course.best.get("step")
        place.save(course.step, fill, keep=learner.plan.keep, best=None if best is None else int(best))
    return time.monotonic()


def _resumed(place: Workspace, learner: EngineLearner) -> tuple[Course, Clock] | None:
    newest = place.newest()
    if newest is None:
        return None
    course = Course(**json.loads((newest / COURSE).read_text(encoding="utf-8")))
    then = json.loads((newest / CLOCK).read_text(encoding="utf-8"))
    clock = Clock(**{each.name: then[each.name] for each in fields(Clock)})
    learner.restore(newest)
    place.say(f"resuming at step {course.step:,}, after {course.tokens:,} tokens and {clock.seconds:,.0f} s.")
    return course, clock


def _finished(place: Workspace, learner: EngineLearner, course: Course, spending: Spending) -> EngineFitted:
    is_best = course.keeps_the_best(learner.plan.patience)
    if is_best:
        imported(learner.stack, open_tensors(place.path / f"step-{int(course.best['step']):09d}" / MODEL))
    rows = [json.loads(line) for line in (place.path / METRICS).read_text(encoding="utf-8").splitlines()]
    learner.stack.train(False)
    return EngineFitted(course, spending.elapsed(), round(course.tokens * spending.flops_per_token),
                        course.tokens / max(spending.stepping, 1e-9), peak_memory(),
                        int(course.best["step"]) if is_best else course.step, rows)
