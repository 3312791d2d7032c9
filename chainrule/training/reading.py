"""How a plan reads a text: in windows or as columns, and in smaller ones where it is short."""

from __future__ import annotations

from typing import Any, TypeVar

from chainrule.errors import DataError, OptionError
from chainrule.tasks.language import Language, Text, Vocabulary
from chainrule.tasks.order import Contiguous, Windows
from chainrule.training.plan import Plan
from chainrule.training.telling import Telling
from chainrule.training.workspace import Say

Kind = TypeVar("Kind", bound=Language)


def language_task(kind: type[Kind], stack: Any, plan: Plan, text: Text, valid: Text | None, vocabulary: Vocabulary,
                  telling: Telling) -> Kind:
    """Language modeling in torch or on the engine."""
    order = chosen_order(stack, plan, len(text.ids), telling.say)
    watches = [name for name, given in (("patience", plan.patience), ("schedule=plateau", _is_plateau(plan))) if given]
    if watches and valid is None:
        telling.say(f"training.{watches[0]} does nothing without validation text: give --valid, or split.valid=0.1.")
    return kind(text, valid, vocabulary, order, smoothing=plan.label_smoothing, evaluate_tokens=plan.evaluate_tokens,
                sample=telling.sample)


def chosen_order(stack: Any, plan: Plan, tokens: int, say: Say) -> Windows | Contiguous:
    """A text that is too short for the context or the batch makes them smaller."""
    context, rows = stack.shape.context, plan.batch
    if not tokens:
        raise DataError("the text to train on has no tokens.")
    if tokens < context:
        say(f"the text has {_counted(tokens)}, fewer than model.context = {context}: it is read in windows of "
            f"{tokens}.")
        context = tokens
    reading = chosen_reading(stack, plan.reading)
    if reading == "contiguous" and rows > max(1, tokens // context):
        rows = max(1, tokens // context)
        say(f"the text has {_counted(tokens)}, too few for {plan.batch} rows of {context}: training.batch is {rows}.")
    return (Contiguous if reading == "contiguous" else Windows)(tokens, context, rows, plan.seed)


def chosen_reading(stack: Any, wish: str) -> str:
    """contiguous where the state can be carried on without end: recurrence, and no attention or bounded positions."""
    if wish == "contiguous" and stack.bounded:
        raise OptionError("training.reading", wish, "'windows' for attention and learned positions",
                          "Only recurrent, convolution and window sublayers carry their state on.")
    return wish if wish != "auto" else "contiguous" if not stack.bounded and "r" in stack.letters else "windows"


def _counted(tokens: int) -> str:
    return f"{tokens:,} token{'s' * (tokens != 1)}"


def _is_plateau(plan: Plan) -> bool:
    return (plan.schedule if isinstance(plan.schedule, str) else plan.schedule.get("name")) == "plateau"
