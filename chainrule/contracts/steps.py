"""Contract of sublayers in their fast paths: fixed-shape steps, and the engine's twin."""

from __future__ import annotations

import numpy as np
import torch

from chainrule.contracts.contract import check, require_close
from chainrule.contracts.sublayers import FEEDFORWARDS, KINDS, chosen, moved, reads
from chainrule.errors import OptionError
from chainrule.models.engine_stack import EngineStack, imported
from chainrule.models.fixed import FixedSteps, NotFixed
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.recipe.choices import Choice
from chainrule.recipe.registry import find

V, CONTEXT, ROWS, START = 13, 12, 3, 0


def stack_with(kind: str, name: str) -> Stack:
    """A small causal stack in which the part stands, its weights moved."""
    torch.manual_seed(0)
    _, part = chosen(kind, name)
    pattern = "ps" if kind == FEEDFORWARDS else "pf"
    parts: dict[str, Choice] = {"p": part}
    return moved(Stack(Shape(pattern=pattern, width=16, context=CONTEXT, parts=parts, head="untied"), V)).eval()  # type: ignore[return-value]


def _tried(kind: str, name: str) -> bool:
    """Not for a part that needs a source, nor for one that only reads both ways."""
    return not getattr(find(kind, name), "needs_source", False) and reads(kind, name, True)


@check(*KINDS)
@torch.inference_mode()
def fixed_steps(kind: str, name: str) -> None:
    """Fixed-shape steps, which a CUDA graph can record, give the same as ordinary steps."""
    if not _tried(kind, name):
        return
    model = NeuralLanguageModel(stack_with(kind, name), START)
    ids = torch.randint(1, V, (ROWS, CONTEXT))
    whole = model.score(ids[:, :-1])
    for begin in (0, 4):
        state = model.start(ROWS)
        for column in ids[:, :begin].T:
            state = model.advance(state, column)
        steps = FixedSteps(model, state.stack, CONTEXT)
        steps.put(state.stack)
        for t in range(begin, CONTEXT - 2):
            steps.ids_B1.copy_(ids[:, t:t + 1])
            try:
                log_p_BV = steps.log_probs(steps.step())
            except NotFixed:
                return  # its states grow: then nothing is recorded, and ordinary steps are used
            found = log_p_BV.gather(1, ids[:, t + 1:t + 2])[:, 0]
            require_close(found, whole[:, t + 1], f"ln p of token {t + 1} after {begin} ordinary steps", 1e-5)


@check(*KINDS)
@torch.inference_mode()
def one_by_one_in_a_stack(kind: str, name: str) -> None:
    """In a stack, token by token gives what a whole text gives, also beyond its context."""
    if not _tried(kind, name):
        return
    model = NeuralLanguageModel(stack_with(kind, name), START)
    ids = torch.randint(1, V, (ROWS, 3 * CONTEXT))
    whole, state = model.score(ids), model.start(ROWS)
    for t, column in enumerate(ids.T):
        require_close(model.log_probs(state).gather(1, column[:, None])[:, 0], whole[:, t], f"ln p of token {t}", 1e-5)
        state = model.advance(state, column)


@check(*KINDS)
def twin_of_a_sublayer(kind: str, name: str) -> None:
    """If the engine has a twin of it, the twin computes the same."""
    if _tried(kind, name):
        require_twin(stack_with(kind, name))


@torch.inference_mode()
def require_twin(stack: Stack) -> None:
    """A stack on the engine scores and steps as it does in torch, where the engine has all of its parts."""
    try:
        twin = EngineStack(stack.shape, V, np.random.default_rng(0))
    except OptionError:
        return
    imported(twin, {key: value.detach().numpy() for key, value in stack.named_parameters()})
    ids = torch.randint(1, V, (ROWS, CONTEXT))
    whole, of_engine = NeuralLanguageModel(stack, START).score(ids), twin.language_model(START)
    require_close(torch.from_numpy(of_engine.score(ids.numpy())), whole, "scores of the twin", 1e-5)
    state = of_engine.start(ROWS)
    for t, column in enumerate(ids.T):
        found = torch.from_numpy(of_engine.log_probs(state)).gather(1, column[:, None])[:, 0]
        require_close(found, whole[:, t], f"ln p of token {t} by the twin", 1e-5)
        state = of_engine.advance(state, column.numpy())
