"""The mixture's weights are learned on text that they are not measured on."""

from dataclasses import replace

import numpy as np
import pytest

from chainrule.counting.mixture import fit_weights
from chainrule.experiments.losses import Losses, units
from chainrule.experiments.mixing import NAME, cross_fitted, mixture
from chainrule.experiments.standings import Standing, empty_row

RNG = np.random.default_rng(0)


def test_each_half_has_the_weights_of_the_other():
    log_p, fold = np.log(RNG.uniform(0.01, 1, (3, 200))), RNG.integers(0, 2, 200)
    found, weights = cross_fitted(log_p, fold)
    first, second = fit_weights(log_p[:, fold == 1]), fit_weights(log_p[:, fold == 0])
    np.testing.assert_allclose(found[fold == 0], np.log(first @ np.exp(log_p[:, fold == 0])))
    np.testing.assert_allclose(found[fold == 1], np.log(second @ np.exp(log_p[:, fold == 1])))
    np.testing.assert_allclose(weights, (first + second) / 2)


def test_changing_a_fold_does_not_change_its_own_weights():
    """What is measured on a token never saw that token: other tokens of its half keep their numbers."""
    log_p, fold = np.log(RNG.uniform(0.01, 1, (2, 100))), np.arange(100) % 2
    before, _ = cross_fitted(log_p, fold)
    log_p[:, 0] = np.log([0.99, 0.001])
    after, _ = cross_fitted(log_p, fold)
    np.testing.assert_array_equal(before[fold == 0][1:], after[fold == 0][1:])


def member(name, bits, ends, tokenizer="a"):
    return Standing(empty_row(name, "model", "ngram") | {"parameters": 3, "disk_bytes": 5},
                    ({"tokenizer": tokenizer},), (Losses(ends, bits),))


def test_models_that_know_different_things_are_better_together():
    texts = [b"x" * 9] * 24
    drawn, ends = units(texts), np.arange(1, 241)
    odd = np.arange(240) % 2 == 1
    members = [member("one", np.where(odd, 0.1, 6.0), ends), member("other", np.where(odd, 6.0, 0.1), ends)]
    found, why = mixture(members, drawn)
    assert why is None and found.row["name"] == NAME and found.row["parameters"] == 6
    assert found.row["bits_per_byte"] < 1.3 < members[0].losses[0].bits.sum() / 216
    assert found.row["weights"] == {"one": 0.5, "other": 0.5}
    np.testing.assert_allclose(found.unit_bits.sum(), found.row["bits_per_byte"] * 216)


def test_with_several_seeds_the_mixture_is_measured_as_its_members_are():
    """A mean over seeds beside the mixture of the first seeds alone would tell of luck, not of mixing."""
    drawn, ends = units([b"x" * 9] * 24), np.arange(1, 241)
    seeds = RNG.uniform(1, 5, (3, 240))
    several = replace(member("several", seeds[0], ends), losses=tuple(Losses(ends, own) for own in seeds))
    counted = member("counted", np.full(240, 3.0), ends)
    found, _ = mixture([several, counted], drawn)
    alone = [mixture([member("several", own, ends), counted], drawn)[0] for own in seeds]
    rates = [each.row["bits_per_byte"] for each in alone]
    assert found.row["bits_per_byte"] == pytest.approx(np.mean(rates))
    assert found.row["spread"] == pytest.approx(np.std(rates, ddof=1)) and alone[0].row["spread"] is None
    np.testing.assert_allclose(found.unit_bits, np.mean([each.unit_bits for each in alone], axis=0))


def test_there_is_no_mixture_of_different_tokens_or_of_one():
    drawn, ends = units([b"x" * 9] * 24), np.arange(1, 241)
    one, other = member("one", np.ones(240), ends), member("other", np.ones(240), ends, tokenizer="b")
    assert mixture([one, other], drawn) == (None, "there is no row for the mixture of all models: they have different "
                                                  "tokens.")
    assert mixture([one], drawn) == (None, None)
