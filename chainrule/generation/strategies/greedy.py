"""Greedy: always the likeliest token."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.arrays import namespace, to_numpy
from chainrule.generation.draft import Draft, set_apart
from chainrule.protocols import Array
from chainrule.recipe.registry import part


@part
class Greedy:
    """w_t = argmax_w p(w | w_<t); of equally likely tokens the one with the lowest id."""

    results = 1

    def extend(self, live: Sequence[Draft], log_p_BV: Array) -> list[Draft]:
        xp = namespace(log_p_BV)
        best_B = to_numpy(xp.max(log_p_BV, axis=1)).tolist()
        ids_B = to_numpy(xp.argmax(log_p_BV, axis=1)).tolist()
        return [draft.extended(id, best) if best > -xp.inf else draft.closed("stuck")
                for draft, id, best in zip(live, ids_B, best_B, strict=True)]

    def sift(self, longer: Sequence[Draft], done: list[Draft], max_tokens: int) -> tuple[list[Draft], list[Draft]]:
        return set_apart(longer, done)

    def rank(self, done: Sequence[Draft]) -> list[Draft]:
        return list(done)
