"""What a finished training suggests to its user: one sentence for each thing that went otherwise than hoped."""

from __future__ import annotations

from chainrule.training.course import Course
from chainrule.training.learner import Learner

WORSE = 1.01  # the last loss of validation by the best: less is chance
SINCE = 2  # evaluations since the best: one may be chance
OFTEN = 20  # times that a text is read
SMALL = 100  # parameters for each token of the text


def advice(course: Course, learner: Learner, *, keeps_the_best: bool) -> list[str]:
    """About overfitting, and about a text that is far too small for the model."""
    found, tokens = [], learner.task.tokens
    if not keeps_the_best and _overfitted(course):
        found.append(
            f"the validation loss was best at step {int(course.best['step']):,} ({course.best['loss']:.3f}) and ended "
            f"at {course.last['loss']:.3f}: the model learned the training text by heart. Try training.patience=3, "
            f"which stops there and keeps the best, a smaller training.budget, or a higher {learner.forgetful}.")
    if not course.losses and course.tokens > OFTEN * tokens:
        found.append(f"the text was read {course.tokens / tokens:,.0f} times, and nothing was kept aside to see "
                     "whether that was too often. Try --valid SPEC, or split.valid=0.1.")
    if learner.size > SMALL * tokens:
        found.append(f"the text has {tokens:,} tokens and the model {learner.size:,} parameters: far too little "
                     "text for it. Try more text, or a smaller model.width.")
    return found


def _overfitted(course: Course) -> bool:
    """Worse than the best, and not only since the last evaluation."""
    if not course.losses:
        return False
    since = len(course.losses) - course.best.get("number", 0)
    return since >= SINCE and course.losses[-1] > WORSE * course.best.get("loss", float("inf"))
