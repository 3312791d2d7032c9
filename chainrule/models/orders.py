"""Random orders of the sublayers of a pattern, all with the same parts: which order is best?"""

from __future__ import annotations

from itertools import groupby
from random import Random

from chainrule.errors import OptionError
from chainrule.models.pattern import Slot, slots

TRIES = 200  # draws for each order that is still wanted, before all orders are taken to be known


def random_orders(pattern: str, count: int, seed: int = 0) -> list[str]:
    """So many different permutations of the sublayers of a pattern, as patterns: `s*2f*2` gives `sffs`, `fs*2f`, ….

    Every permutation is equally likely, and the same seed gives the same ones. Press, Smith & Levy 2020,
    arXiv:1911.03864, §3.1: 20 random orders of 16 s and 16 f. Where there are fewer different orders than are asked
    for, it gives all of them. Weights that are shared cannot be put into another order.
    """
    if count < 1:
        raise OptionError("random_orders.count", count, "at least 1")
    letters = [slot.letter for slot in _own_weights(pattern)]
    random, found = Random(seed), dict[str, None]()  # a dict keeps the order in which they were drawn
    for _ in range(TRIES * count):
        random.shuffle(letters)
        found[written(letters)] = None
        if len(found) == count:
            break
    return list(found)


def written(letters: list[str]) -> str:
    """A pattern of these sublayers: s, s, f is `s*2f`."""
    runs = [(letter, len(list(same))) for letter, same in groupby(letters)]
    return "".join(letter if times == 1 else f"{letter}*{times}" for letter, times in runs)


def _own_weights(pattern: str) -> list[Slot]:
    found = slots(pattern)
    if not found or len({slot.weights for slot in found}) < len(found):
        raise OptionError("model.pattern", pattern, "sublayers with weights of their own, to be put into random orders",
                          "For example s*8f*8.")
    return found
