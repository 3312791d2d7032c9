"""Differences from the base against computations by hand: units, seeds, Holm's correction, pairs that add up."""

import math

import numpy as np
import pytest
from scipy import stats

from chainrule.evaluation.significance import Difference, studentized
from chainrule.experiments.ablation.combined import combined
from chainrule.experiments.ablation.effects import corrected, effect, over_seeds
from chainrule.experiments.ablation.judges import ByMeasure, ByText
from chainrule.experiments.ablation.rows import Scored, empty_row
from chainrule.experiments.contestants import Contestant
from chainrule.recipe.registry import build

UNITS, SEEDS = 23, 3


@pytest.fixture
def judge():
    return ByText(np.random.default_rng(0).integers(50, 90, UNITS).astype(float))


def tables(judge, shift, noise, seed):
    """Bits of each unit for every seed: 2 bits per byte, a shift, and a shift of each seed's own."""
    chance = np.random.default_rng(seed)
    each = chance.normal(0, noise, SEEDS)
    return {n: judge.sizes * (2 + shift + each[n]) + chance.normal(0, 0.3, UNITS) for n in range(SEEDS)}


def test_one_seed_has_the_interval_of_the_paired_bootstrap(judge):
    own, base = tables(judge, -0.1, 0.01, 1), tables(judge, 0, 0.01, 2)
    found = effect({0: own[0]}, base, judge)
    assert found == studentized((own[0] - base[0])[:, None], judge.sizes)[0]


def test_several_seeds_are_computed_as_by_hand(judge):
    own, base = tables(judge, -0.1, 0.02, 1), tables(judge, 0, 0.02, 2)
    found = effect(own, base, judge)
    d = np.array([(own[n].sum() - base[n].sum()) / judge.sizes.sum() for n in range(SEEDS)])
    gap = np.mean([own[n] - base[n] for n in range(SEEDS)], axis=0)
    left = gap - gap.sum() / judge.sizes.sum() * judge.sizes
    of_units = UNITS / (UNITS - 1) * (left**2).sum() / judge.sizes.sum() ** 2
    of_seeds = ((d - d.mean()) ** 2).sum() / (SEEDS * (SEEDS - 1))
    s = math.sqrt(of_units + of_seeds)
    freedom = s**4 / (of_units**2 / (UNITS - 1) + of_seeds**2 / (SEEDS - 1))
    assert found.difference == pytest.approx(d.mean()) and found.error == pytest.approx(s)
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, freedom, d.mean(), s))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(d.mean()) / s, freedom))


def test_seeds_that_differ_widely_make_a_difference_noise(judge):
    calm = effect(tables(judge, -0.05, 0.001, 1), tables(judge, 0, 0.001, 2), judge)
    wild = effect(tables(judge, -0.05, 0.2, 1), tables(judge, 0, 0.2, 2), judge)
    assert corrected({"calm": calm, "wild": wild}, judge)["calm"]["verdict"] == "helps"
    assert corrected({"calm": calm, "wild": wild}, judge)["wild"]["verdict"] == "noise"


def test_only_seeds_that_both_have_count(judge):
    own, base = tables(judge, 0.1, 0.02, 1), tables(judge, 0, 0.02, 2)
    two = {0: own[0], 2: own[2]}
    assert effect(two, base, judge) == effect(two, {0: base[0], 2: base[2]}, judge)
    assert effect({7: own[0]}, base, judge) is None


def test_p_values_are_corrected_by_holm(judge):
    found = {name: Difference(-0.1, -0.2, -0.01, p) for name, p in {"a": 0.04, "b": 0.01, "c": 0.02}.items()}
    p = {name: each["p_holm"] for name, each in corrected(found | {"failed": None}, judge).items() if each}
    assert p == pytest.approx({"b": 0.03, "c": 0.04, "a": 0.04})
    assert corrected({"one": found["a"]}, judge)["one"]["verdict"] == "helps"


@pytest.mark.parametrize(("difference", "higher", "verdict"), [
    (-0.1, False, "helps"), (0.1, False, "hurts"), (0.1, True, "helps"), (-0.1, True, "hurts")])
def test_which_side_is_better_is_the_measures_affair(difference, higher, verdict, judge):
    judge = ByText(judge.sizes, higher=higher)
    found = Difference(difference, difference - 0.01, difference + 0.01, 0.001)
    assert corrected({"it": found}, judge)["it"]["verdict"] == verdict


def test_an_accuracy_is_compared_text_by_text():
    judge = ByMeasure(build("evaluation/measures", "accuracy"), 40)
    chance = np.random.default_rng(3)
    good, bad = ({n: np.stack([chance.random(40) < share, np.ones(40)], axis=1).astype(float) for n in range(2)}
                 for share in (0.95, 0.3))
    found = effect(good, bad, judge)
    values = [judge.value(good[n]) - judge.value(bad[n]) for n in range(2)]
    assert found.difference == pytest.approx(np.mean(values)) and found.low > 0
    assert corrected({"good": found}, judge)["good"]["verdict"] == "helps"


def test_units_without_variance_leave_the_variance_of_seeds():
    found = over_seeds(Difference(0.1, 0.1, 0.1, 0.5, 0.0), [0.09, 0.11], 5)
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 1, 0.1, 0.01))


def scored(changes, own, judge):
    row = empty_row(" ".join(changes) or "base", changes)
    row |= {"value": float(np.mean([judge.value(each) for each in own.values()])), "effect": {"verdict": "helps"}}
    return Scored(Contestant(row["name"], "", "", changes), row, own)


@pytest.mark.parametrize(("together", "adds"), [(-0.3, True), (-0.2, False), (-0.4, False)])
def test_two_changes_add_up_or_do_not(together, adds, judge):
    made = {changes: scored(changes, tables(judge, shift, 0.001, n), judge) for n, (changes, shift) in enumerate({
        (): 0.0, ("a=1",): -0.1, ("b=2",): -0.2, ("a=1", "b=2"): together}.items())}
    pair, = combined(made, judge)
    assert pair["together"] == pytest.approx(together, abs=0.01) and pair["sum"] == pytest.approx(-0.3, abs=0.01)
    assert (pair["low"] <= 0 <= pair["high"]) is adds and pair["said"]
    assert (pair["low"] + pair["high"]) / 2 == pytest.approx(pair["together"] - pair["sum"])
