"""The only decode loop: any language model, any strategy, any filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.arrays import at_hand, namespace, sender
from chainrule.errors import ChainruleError, OptionError
from chainrule.generation.draft import Draft, Filter, Strategy
from chainrule.protocols import Array, LanguageModel, ReadsAtOnce


@dataclass(frozen=True)
class Marks:
    """Ids that the loop treats apart: `start` is never written, `end` ends a text, `unknown` is a last resort."""

    start: int
    end: int
    unknown: int | None = None


def decode(model: LanguageModel, prompts_BT: np.ndarray, strategy: Strategy, *, marks: Marks, max_tokens: int,
           filters: Sequence[Filter] = (), stops: Callable[[Draft], bool] | None = None,
           first: int = 0) -> list[list[Draft]]:
    """Continues each row of the prompts until its end mark, a stop or `max_tokens`; for each, its drafts, best first.

    `stops` is asked after every token whether a draft is complete. Rows are numbered from `first`.
    """
    if max_tokens < 1:
        raise OptionError("max_tokens", max_tokens, "at least 1")
    send = sender(model)
    prompts_BT = np.asarray(prompts_BT, dtype=np.int32)
    state = _read(model, model.start(len(prompts_BT)), prompts_BT, send)
    live = [Draft(first + i, i, tuple(ids.tolist()), len(ids)) for i, ids in enumerate(prompts_BT)]
    done: list[Draft] = []
    for _ in range(max_tokens):
        log_p_BV = speakable(at_hand(model.log_probs(state)), marks)
        for reshape in filters:
            log_p_BV = reshape(log_p_BV, [draft.ids for draft in live])
        longer = [_closed(draft, marks.end, stops) for draft in strategy.extend(live, log_p_BV)]
        rows = len(live)
        live, done = strategy.sift(longer, done, max_tokens)
        if not live:
            break
        state = _follow(model, state, rows, live, send)
        live = [d if d.row == i else Draft(d.prompt, i, d.ids, d.read, d.log_p) for i, d in enumerate(live)]
    found: list[list[Draft]] = [[] for _ in prompts_BT]
    for draft in done + [draft.closed("length") for draft in live]:
        found[draft.prompt - first].append(draft)
    return [strategy.rank(drafts) for drafts in found]


def speakable(log_p_BV: Array, marks: Marks) -> Array:
    """ln p without <s>, and without the unknown token in the rows where anything else is possible."""
    xp = namespace(log_p_BV)
    log_p_BV = xp.asarray(log_p_BV, copy=True)
    log_p_BV[:, marks.start] = -xp.inf
    if marks.unknown is not None:
        unknown_B = xp.asarray(log_p_BV[:, marks.unknown], copy=True)
        log_p_BV[:, marks.unknown] = -xp.inf
    best_B = xp.max(log_p_BV, axis=1)
    if bool(xp.any(xp.isnan(best_B))):
        raise ChainruleError("the model gives NaN as a probability; its training failed or its weights are damaged.")
    if marks.unknown is not None:
        log_p_BV[:, marks.unknown] = xp.where(best_B == -xp.inf, unknown_B, -xp.inf)
    return log_p_BV


def _read(model: LanguageModel, state: Any, prompts_BT: np.ndarray, send: Callable[[np.ndarray], Array]) -> Any:
    """The model's state after the prompts."""
    if prompts_BT.shape[1] and isinstance(model, ReadsAtOnce):
        return model.read(state, send(prompts_BT))
    for ids in prompts_BT.T:
        state = model.advance(state, send(ids))
    return state


def _closed(draft: Draft, end: int, stops: Callable[[Draft], bool] | None) -> Draft:
    if draft.reason:
        return draft
    if draft.ids[-1] == end:
        return draft.closed("end")
    return draft.closed("stop") if stops and stops(draft) else draft


def _follow(model: LanguageModel, state, rows: int, live: Sequence[Draft], send):
    """The model's state after each live draft's last token; rows move only where drafts ended or beams crossed."""
    parents = [draft.row for draft in live]
    if parents != list(range(rows)):
        state = model.pick(state, send(np.array(parents)))
    return model.advance(state, send(np.array([draft.ids[-1] for draft in live], dtype=np.int32)))
