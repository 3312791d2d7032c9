"""Ancestral sampling: each token is drawn from the distribution that the filters left."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import array_api_compat
import numpy as np

from chainrule.arrays import namespace, to_numpy
from chainrule.errors import OptionError
from chainrule.generation.draft import Draft, set_apart
from chainrule.protocols import Array
from chainrule.recipe.registry import part

AT_ONCE, AT_HAND = 64, 4096  # positions drawn together, as making a generator takes longer; stretches remembered


@part
class Sample:
    """w_t ~ p(· | w_<t), by inverting the distribution function at a uniform number u.

    u depends on the seed, the prompt's row and the position alone (Philox, a counter-based generator: Salmon et al.
    2011), so a text does not depend on how many others are drawn beside it.
    """

    results = None

    def __init__(self, *, seed: int = 0):
        if not 0 <= seed < 2**64:
            raise OptionError("seed", seed, "between 0 and 2^64 − 1")
        self.seed = seed
        self._drawn = lru_cache(AT_HAND)(self._draw)

    def extend(self, live: Sequence[Draft], log_p_BV: Array) -> list[Draft]:
        xp = namespace(log_p_BV)
        device = array_api_compat.device(log_p_BV)
        u_B1 = xp.asarray([[self._uniform(draft)] for draft in live], dtype=xp.float64, device=device)
        ids_B = invert(log_p_BV, u_B1)
        chosen_B = log_p_BV[xp.arange(len(live), device=device), ids_B]
        return [draft.extended(id, chosen) if chosen > -xp.inf else draft.closed("stuck")
                for draft, id, chosen in zip(live, to_numpy(ids_B).tolist(), to_numpy(chosen_B).tolist(), strict=True)]

    def sift(self, longer: Sequence[Draft], done: list[Draft], max_tokens: int) -> tuple[list[Draft], list[Draft]]:
        return set_apart(longer, done)

    def rank(self, done: Sequence[Draft]) -> list[Draft]:
        return list(done)

    def _uniform(self, draft: Draft) -> float:
        place, within = divmod(len(draft.ids) - draft.read, AT_ONCE)
        return self._drawn(draft.prompt, place)[within]

    def _draw(self, prompt: int, place: int) -> list[float]:
        """The numbers of several positions: each is the first of the four that the generator makes of its counter."""
        key = np.array([self.seed, prompt], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=key, counter=place * AT_ONCE)).random(4 * AT_ONCE)[::4].tolist()


def invert(log_p_BV: Array, u_B1: Array) -> Array:
    """(B,): the first token at which the distribution function exceeds u of its total; 0 where all is impossible."""
    xp = namespace(log_p_BV)
    top_B1 = xp.max(log_p_BV, axis=1, keepdims=True)
    weight_BV = xp.exp(xp.astype(log_p_BV - xp.where(top_B1 == -xp.inf, 0.0, top_B1), xp.float64))
    below_BV = xp.cumulative_sum(weight_BV, axis=1)
    total_B1 = below_BV[:, -1:]
    ids_B = xp.count_nonzero(below_BV <= u_B1 * total_B1, axis=1)
    if int(xp.max(ids_B)) == log_p_BV.shape[1]:  # u · total was rounded up to the total itself, or all is impossible
        ids_B = xp.minimum(ids_B, xp.count_nonzero(below_BV < total_B1, axis=1))
    return ids_B
