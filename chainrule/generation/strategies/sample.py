"""Ancestral sampling: each token is drawn from the distribution that the filters left."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from chainrule.arrays import namespace, on_host
from chainrule.errors import OptionError
from chainrule.generation.strategies._row_by_row import RowByRow
from chainrule.protocols import Array
from chainrule.recipe.registry import part

AT_ONCE, REMEMBERED = 256, 4096  # positions drawn together, as making a generator takes longer; stretches remembered
BLOCK = 256  # tokens whose probabilities are added up together
LOWEST = -1e30  # stands for −∞, which cannot be taken off


@part
class Sample(RowByRow):
    """w_t ~ p(· | w_<t), by inverting the distribution function at a uniform number u.

    u depends on the seed, the prompt's number and the position alone (Philox, a counter-based generator: Salmon et al.
    2011), so a text does not depend on how many others are drawn beside it.
    """

    results = None

    def __init__(self, *, seed: int = 0):
        if not 0 <= seed < 2**64:
            raise OptionError("seed", seed, "between 0 and 2^64 − 1")
        self.seed = seed
        self._drawn = lru_cache(REMEMBERED)(self._draw)

    def choose(self, log_p_BV: Array, u_B: Array) -> Array:
        return invert(log_p_BV, u_B[:, None])

    def draws(self, numbers: np.ndarray, positions: np.ndarray) -> np.ndarray:
        found, count = np.empty(positions.shape), positions.shape[1]
        for row, number, first in zip(found, numbers.tolist(), positions[:, 0].tolist(), strict=True):
            done = 0
            while done < count:
                stretch, place = divmod(first + done, AT_ONCE)
                drawn = self._drawn(number, stretch)[place : place + count - done]
                row[done : done + len(drawn)] = drawn
                done += len(drawn)
        return found

    def _draw(self, number: int, stretch: int) -> np.ndarray:
        """The numbers of several positions: each is the first of the four that the generator makes of its counter."""
        key = np.array([self.seed, number], dtype=np.uint64)
        draw = np.random.Generator(np.random.Philox(key=key, counter=stretch * AT_ONCE))
        return draw.random(4 * AT_ONCE)[::4].copy()


def invert(log_p_BV: Array, u_B1: Array) -> Array:
    """(B,): the first token at which the distribution function exceeds u of its total; 0 where all is impossible.

    The function is added up over blocks of tokens, then inside the one block that matters: a whole row of sums would
    take longer than all else that is done to choose a token.
    """
    if not on_host(log_p_BV):
        return _on_device(log_p_BV, u_B1)
    xp = namespace(log_p_BV)
    rows, size = log_p_BV.shape
    top_B1 = xp.max(log_p_BV, axis=1, keepdims=True)
    weight_BV = xp.exp(xp.astype(log_p_BV - xp.where(top_B1 == -xp.inf, 0.0, top_B1), xp.float64))
    blocks = -(-size // BLOCK)
    nothing = xp.zeros_like(xp.broadcast_to(weight_BV[:, :1], (rows, blocks * BLOCK - size)))
    padded = xp.concat([weight_BV, nothing], axis=1)
    weight_BNK = xp.reshape(padded, (rows, blocks, BLOCK))
    ends_BN = xp.cumulative_sum(xp.sum(weight_BNK, axis=2), axis=1)
    wanted_B1 = u_B1 * ends_BN[:, -1:]
    block_B1 = _first_above(ends_BN, wanted_B1)
    before_B1 = xp.where(block_B1 > 0, xp.take_along_axis(ends_BN, xp.clip(block_B1 - 1, 0, None), axis=1), 0.0)
    inside_BK = xp.take_along_axis(weight_BNK, xp.broadcast_to(block_B1[:, :, None], (rows, 1, BLOCK)), axis=1)[:, 0]
    place_B1 = _first_above(xp.cumulative_sum(inside_BK, axis=1), wanted_B1 - before_B1)
    return (block_B1 * BLOCK + place_B1)[:, 0]


def _on_device(log_p_BV: Array, u_B1: Array) -> Array:
    """The same with torch's own search in sorted rows, in a third of the kernels."""
    rows, size = log_p_BV.shape
    weight_BV = (log_p_BV - log_p_BV.amax(1, keepdim=True).clamp(min=LOWEST)).double().exp_()
    block = next((each for each in range(BLOCK, 4 * BLOCK) if size % each == 0), BLOCK)
    if size % block:
        padded_BV = weight_BV.new_zeros(rows, size + -size % block)
        padded_BV[:, :size] = weight_BV
        weight_BV = padded_BV
    weight_BNK = weight_BV.view(rows, -1, block)
    own_BN = weight_BNK.sum(2)
    ends_BN = own_BN.cumsum(1)
    wanted_B1 = u_B1 * ends_BN[:, -1:]
    block_B1 = _searched(ends_BN, wanted_B1)
    inside_BK = weight_BNK.take_along_dim(block_B1[:, :, None], dim=1)[:, 0].cumsum(1)
    place_B1 = _searched(inside_BK, wanted_B1 - (ends_BN - own_BN).gather(1, block_B1))
    return (block_B1 * block + place_B1)[:, 0]


def _searched(ends_BN: Array, wanted_B1: Array) -> Array:
    """`_first_above` on a GPU."""
    search = namespace(ends_BN).searchsorted
    last_rise_B1 = search(ends_BN, ends_BN[:, -1:].contiguous())
    return search(ends_BN, wanted_B1, side="right").minimum(last_rise_B1)


def _first_above(ends_BN: Array, wanted_B1: Array) -> Array:
    """(B, 1): the first place at which a growing row exceeds a number; where rounding keeps it below, its last rise."""
    xp = namespace(ends_BN)
    first = xp.count_nonzero(ends_BN <= wanted_B1, axis=1, keepdims=True)
    return xp.minimum(first, xp.count_nonzero(ends_BN < ends_BN[:, -1:], axis=1, keepdims=True))
