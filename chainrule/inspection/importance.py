"""What each sublayer and each head is worth: the bits that a held-out text costs more without it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.errors import DataError, UsageError
from chainrule.evaluation.significance import paired_bootstrap
from chainrule.inspection.stacks import Opened
from chainrule.models.inside.removing import heads_of, removable, without_head, without_sublayer
from chainrule.protocols import Filler, LanguageModel

Losses = tuple[np.ndarray, np.ndarray]  # of each window: nats, and the bytes or tokens that they are for


@dataclass(frozen=True)
class Cost:
    """How many bits more, with its 95 % interval over windows of text."""

    name: str
    bits: float
    low: float
    high: float


@dataclass(frozen=True)
class Importance:
    """Of one model on one text."""

    unit: str  # bits per byte, or per hidden token
    whole: float  # of the model as it is
    tokens: int
    sublayers: tuple[Cost, ...]
    heads: tuple[tuple[Cost, ...], ...]  # of each sublayer that has some


def importance(opened: Opened, data: str, tokens: int) -> Importance:
    """Removes every sublayer and every head in turn; all read the same windows of the text."""
    ids = opened.ids(data)[:tokens].astype(np.int64)
    unit, measure = _measure(opened, ids, data)
    stack, names = opened.stack, opened.stack.shape.layer_names
    whole, size = measure()

    def cost(name: str) -> Cost:
        found = paired_bootstrap(measure()[0], whole, size)
        return Cost(name, *(value / math.log(2) for value in (found.difference, found.low, found.high)))

    sublayers, heads = [], []
    for n in removable(stack):
        with without_sublayer(stack, n):
            sublayers.append(cost(names[n]))
        own = []
        for head in range(heads_of(stack, n)):
            with without_head(stack, n, head):
                own.append(cost(f"{names[n]}, head {head}"))
        if own:
            heads.append(tuple(own))
    return Importance(unit, float(whole.sum() / size.sum() / math.log(2)), len(ids), tuple(sublayers), tuple(heads))


def _measure(opened: Opened, ids: np.ndarray, data: str) -> tuple[str, Callable[[], Losses]]:
    """The unit, and a function that gives nats and sizes of each window by the model as it is then."""
    model: Any = opened.model
    if isinstance(model, LanguageModel):
        length = min(opened.recipe.model.context, max(1, len(ids) // 4))
        rows = ids[:len(ids) // length * length].reshape(-1, length)
        _enough(len(rows), data)
        size = np.array([max(1, len(opened.tokenizer.decode(row.astype(np.int32)).encode())) for row in rows])
        return "bits per byte", lambda: (-np.asarray(model.score(rows).cpu()).sum(1), size)
    if isinstance(model, Filler) and hasattr(opened.task, "hiding"):
        from chainrule.tasks._held_out_tokens import batches

        hidden = batches(ids, opened.task.window(opened.recipe), opened.task.hiding(opened.tokenizer, 0))

        filler: Any = model  # with what `evaluate` asks of the models that fill gaps

        def answered() -> Losses:
            table_R3 = filler.answered(opened.task, hidden)
            kept = table_R3[table_R3[:, 1] > 0]
            _enough(len(kept), data)
            return kept[:, 0], kept[:, 1]

        return "bits per hidden token", answered
    raise UsageError(f"{opened.name}: its task is {opened.recipe.task['name']}, expected a language model or a masked "
                     "one: only those say how likely a text is.")


def _enough(windows: int, data: str) -> None:
    if windows < 2:
        raise DataError(f"{data}: fewer than two windows of text, expected more. Give a longer text, or more --tokens.")
