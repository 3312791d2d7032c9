"""Random orders: permutations of the sublayers, all different, the same for the same seed."""

from collections import Counter
from itertools import permutations

import pytest

from chainrule.errors import OptionError
from chainrule.models.orders import random_orders, written
from chainrule.models.pattern import sublayers


def test_every_order_has_the_sublayers_of_the_pattern():
    found = random_orders("s*8f*8", 20, seed=3)
    assert len(set(found)) == 20
    assert all(Counter(sublayers(each)) == {"s": 8, "f": 8} for each in found)


def test_the_same_seed_gives_the_same_orders_and_another_one_others():
    assert random_orders("s*8f*8", 5, seed=1) == random_orders("s*8f*8", 5, seed=1)
    assert random_orders("s*8f*8", 5, seed=1) != random_orders("s*8f*8", 5, seed=2)


def test_fewer_orders_than_asked_for_are_all_of_them():
    assert {sublayers(each) for each in random_orders("(sf)*2", 50)} == {"".join(p) for p in permutations("sfsf")}


def test_all_orders_are_equally_likely():
    times = Counter(random_orders("s*2f*2", 1, seed)[0] for seed in range(1200))
    assert len(times) == 6
    assert max(abs(each - 200) for each in times.values()) < 60  # 200 ± 4.6 standard deviations


def test_orders_are_written_short():
    assert written(list("sssffs")) == "s*3f*2s"


def test_shared_weights_have_no_other_order():
    with pytest.raises(OptionError, match=r"model.pattern = .\[sf\]\*3.*weights of their own.*s\*8f\*8"):
        random_orders("[sf]*3", 2)
    with pytest.raises(OptionError, match="random_orders.count = 0, expected at least 1"):
        random_orders("sf", 0)
