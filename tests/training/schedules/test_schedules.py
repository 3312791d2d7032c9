"""Each schedule against values worked out by hand, and what all of them have in common."""

import math

import pytest

from chainrule.errors import OptionError
from chainrule.recipe.registry import build, names

VALUES = [
    ({"name": "constant"}, {0: 1, 0.3: 1, 1: 1}),
    ({"name": "constant", "warmup": 0.1}, {0: 0, 0.05: 0.5, 0.1: 1, 1: 1}),
    ({"name": "linear", "warmup": 0.2}, {0: 0, 0.1: 0.5, 0.2: 1, 0.6: 0.5, 1: 0}),
    ({"name": "linear", "warmup": 0.0, "final": 0.5}, {0: 1, 0.5: 0.75, 1: 0.5, 1.2: 0.5}),
    ({"name": "cosine", "warmup": 0.2, "final": 0.0}, {0.1: 0.5, 0.2: 1, 0.6: 0.5, 0.4: (1 + math.cos(math.pi / 4)) / 2,
                                                       1: 0}),
    ({"name": "cosine", "warmup": 0.0, "final": 0.1}, {0: 1, 0.5: 0.55, 1: 0.1, 1.1: 0.1}),
    ({"name": "inverse_square_root", "warmup": 0.04}, {0.02: 0.5, 0.04: 1, 0.16: 0.5, 1: 0.2}),
    ({"name": "warmup_stable_decay", "warmup": 0.1, "decay": 0.2}, {0.05: 0.5, 0.1: 1, 0.8: 1, 0.9: 0.5, 1: 0}),
    ({"name": "warmup_stable_decay", "warmup": 0.0, "decay": 0.5, "final": 0.5}, {0.5: 1, 0.75: 0.75, 1: 0.5}),
    ({"name": "geometric", "stay": 6 / 39, "final": 1.2**-33}, {0: 1, 6 / 39: 1, 7 / 39: 1 / 1.2, 1: 1.2**-33}),
    ({"name": "plateau"}, {0: 1, 1: 1}),
]


@pytest.mark.parametrize(("choice", "expected"), VALUES, ids=[choice["name"] for choice, _ in VALUES])
def test_has_the_values_of_its_formula(choice, expected):
    schedule = build("training/schedules", choice)
    for progress, value in expected.items():
        assert schedule(progress, []) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("losses", "factor"), [([3, 2, 1], 1), ([3, 2, 2], 1), ([3, 2, 2, 2], 0.5),
                                                ([3, 4, 5, 6, 7], 0.25), ([3, 4, 2, 3, 1], 1)])
def test_plateau_falls_after_so_many_evaluations_that_are_no_better(losses, factor):
    assert build("training/schedules", {"name": "plateau", "patience": 2})(0.5, losses) == factor


@pytest.mark.parametrize("name", names("training/schedules"))
def test_every_schedule_stays_between_nothing_and_the_whole_rate(name):
    schedule = build("training/schedules", name)
    assert all(0 <= schedule(n / 100, [3.0, 3.0, 3.0]) <= 1 for n in range(121))


@pytest.mark.parametrize(("choice", "words"), [
    ({"name": "linear", "warmup": 2.0}, "linear.warmup = 2.0, expected a share, from 0 to 1."),
    ({"name": "plateau", "patience": 0}, "plateau.patience = 0, expected at least 1 evaluation."),
    ({"name": "cosine", "final": -1.0}, "cosine.final = -1.0, expected a share"),
])
def test_an_impossible_option_is_refused(choice, words):
    with pytest.raises(OptionError, match=words):
        build("training/schedules", choice)
