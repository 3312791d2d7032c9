"""Curves: the mean over seeds, the early loss, and what is gained where both have spent the same FLOPs."""

import pytest

from chainrule.experiments.ablation.curves import early_loss, gain_at_equal_flops, mean_curve
from chainrule.training.plan import Budget


def curve(*points, flops=10):
    return [{"tokens": tokens, "flops": tokens * flops, "seconds": tokens / 2, "loss": loss} for tokens, loss in points]


def test_the_mean_over_seeds_is_as_far_as_all_reach():
    found = mean_curve([curve((10, 4.0), (20, 3.0), (30, 2.0)), curve((10, 5.0), (25, 2.0))], "tokens")
    assert [(point["tokens"], point["loss"]) for point in found] == [(10, 4.5), (20, 3.0), (25, pytest.approx(2.25))]
    assert found[-1]["flops"] == 250 and mean_curve([[], []], "tokens") == []


def test_the_early_loss_is_that_at_an_eighth_of_the_budget():
    seeds = [curve((8, 4.0), (16, 3.0), (100, 1.0)), curve((4, 6.0), (12, 4.0))]
    assert early_loss(seeds[:1], Budget(tokens=80)) == pytest.approx(3.75)
    assert early_loss(seeds, Budget(tokens=80)) == pytest.approx((3.75 + 4.5) / 2)
    assert early_loss(seeds, Budget(seconds=40)) == pytest.approx((3.75 + 4.5) / 2)


def test_with_few_steps_the_first_point_is_taken_unless_it_comes_late():
    assert early_loss([curve((20, 4.0), (80, 3.0))], Budget(tokens=80)) == 4.0
    assert early_loss([curve((21, 4.0), (80, 3.0))], Budget(tokens=80)) is None
    assert early_loss([[]], Budget(tokens=80)) is None


def test_the_gain_is_where_both_have_spent_the_same_flops():
    base, cheap = curve((10, 4.0), (30, 2.0)), curve((10, 4.0), (30, 1.0), flops=5)
    assert gain_at_equal_flops(cheap, base) == pytest.approx(3.5 - 1.0)  # at 150 FLOPs the base has read 15 tokens
    assert gain_at_equal_flops(base, cheap) == pytest.approx(-2.5)
    assert gain_at_equal_flops([], base) is None
    assert gain_at_equal_flops(curve((10, 4.0), (12, 3.0), flops=1), base) is None  # no point of both
