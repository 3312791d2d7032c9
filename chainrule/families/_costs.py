"""What a recipe would cost: its shape and its plan, handed to the estimate of its family."""

from __future__ import annotations

import math
from typing import Any

OPEN = "each epoch has as many tokens as the text; set them with --tokens"


def neural_cost(recipe: Any, vocabulary_size: int, tokens: float | None = None, *, measure: bool = False
                ) -> dict[str, Any]:
    """Everything `chainrule cost` shows; `tokens` replace the recipe's budget, if given."""
    from chainrule.families._stepwise import plan_of, shape_of
    from chainrule.models.cost.estimate import Training, estimate
    from chainrule.parts.heads._head import SCORES
    from chainrule.recipe.registry import build
    from chainrule.training.averaging import keeps_average
    from chainrule.training.networks import chosen_device

    task, plan = build("tasks", recipe.task), plan_of(recipe)
    shape = shape_of(recipe, causal=task.causal)
    training = Training(math.ceil(plan.batch / plan.accumulation), plan.precision,
                        lambda named: build("training/optimizers", plan.optimizer, named),
                        SCORES[chosen_device("auto").type], keeps_average(plan))
    return _with_run(estimate(shape, task.sizes(vocabulary_size), training, refresh=measure), plan, tokens)


def engine_cost(recipe: Any, vocabulary_size: int, tokens: float | None = None, *, measure: bool = False
                ) -> dict[str, Any]:
    """The same, without torch."""
    from chainrule.families._stepwise import plan_of
    from chainrule.families.engine import new_network
    from chainrule.models.cost.engine import estimate
    from chainrule.recipe.registry import build

    network, plan = new_network(recipe, vocabulary_size), plan_of(recipe)
    keeps = build("engine/optimizers", plan.optimizer, network.parameters()).keeps
    found = estimate(network, math.ceil(plan.batch / plan.accumulation), kept=len(keeps), average=plan.ema is not None,
                     refresh=measure)
    return _with_run(found, plan, tokens)


def _with_run(found: dict[str, Any], plan: Any, tokens: float | None) -> dict[str, Any]:
    from chainrule.models.cost.sizes import run_cost

    wanted = tokens or _tokens(plan, found["context"], found)
    return found | ({"open": OPEN} if wanted is None else {"run": run_cost(found, wanted)})


def _tokens(plan: Any, context: int, found: dict[str, Any]) -> float | None:
    """The tokens that the budget allows; None if that depends on the text."""
    budget = plan.budget
    if budget.steps is not None:
        return float(budget.steps * plan.batch * context)
    if budget.seconds is not None:
        return budget.seconds * found["speed"]["tokens"]
    if budget.flops is not None:
        return budget.flops / found["flops_per_token"]["training"]
    return budget.tokens
