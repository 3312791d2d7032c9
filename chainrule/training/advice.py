"""Advice after a training: one sentence for each problem found."""

from __future__ import annotations

from chainrule.training.learner import Learner
from chainrule.training.state import TrainingState

WORSE = 1.01  # last validation loss divided by the best: below this it may be chance
SINCE = 2  # evaluations since the best: one may be chance
OFTEN = 20  # times that a text is read
SMALL = 100  # parameters for each token of the text


def advice(state: TrainingState, learner: Learner, *, keeps_best: bool) -> list[str]:
    """About overfitting, and about data that is far too small for the model."""
    found, tokens = [], learner.data.tokens
    if not keeps_best and _overfitted(state):
        found.append(
            f"the validation loss was best at step {int(state.best['step']):,} ({state.best['loss']:.3f}) and ended "
            f"at {state.last['loss']:.3f}: the model overfitted the training data. Try training.patience=3, "
            f"which stops there and keeps the best, a smaller training.budget, or a higher {learner.dropout_option}.")
    if not state.losses and state.tokens > OFTEN * tokens:
        found.append(f"the data was read {state.tokens / tokens:,.0f} times, and without validation data nothing "
                     "shows whether the model overfitted. Try --valid SPEC, or split.valid=0.1.")
    if learner.size > SMALL * tokens:
        found.append(f"the data has {tokens:,} tokens and the model {learner.size:,} parameters: far too little "
                     "data for it. Try more, or a smaller model.width.")
    return found


def _overfitted(state: TrainingState) -> bool:
    """Worse than the best, and not only since the last evaluation."""
    if not state.losses:
        return False
    since = len(state.losses) - state.best.get("number", 0)
    return since >= SINCE and state.losses[-1] > WORSE * state.best.get("loss", float("inf"))
