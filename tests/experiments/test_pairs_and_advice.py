"""Which differences are significant, and advice that claims no more than that."""

import numpy as np
import pytest

from chainrule.evaluation.significance import studentized
from chainrule.experiments.advice import advice as advice_on
from chainrule.experiments.by_tokens import Ranking
from chainrule.experiments.losses import Losses, units
from chainrule.experiments.pairs import put_intervals
from chainrule.experiments.standings import Standing, empty_row, overfitted

DRAWN = units([b"x" * 50] * 40)


def standing(name, bits_per_document, **measured):
    row = empty_row(name, "model", "ngram") | {"bits_per_byte": float(bits_per_document.sum() / 2000)}
    row["measured"] = {"training_seconds": 10.0, "tokens_per_second": 5.0, "peak_memory": 2**20,
                       "generation_tokens_per_second": 100.0} | measured
    return Standing(row, losses=(Losses(np.arange(1, 2041), np.zeros(2040)),), unit_bits=bits_per_document)


def advice(standings, pairs=(), *, more=()):
    """On these models, by bits per byte; `more` are rows of compressors."""
    found = sorted(standings, key=lambda each: each.row["bits_per_byte"])
    return advice_on([*(each.row for each in found), *more], Ranking("bits_per_byte", found, pairs))


def compressor(bits):
    return empty_row("xz", "compressor", None) | {"bits_per_byte": bits}


@pytest.fixture
def three():
    """a and b differ by noise, c is clearly worse and quick."""
    rng = np.random.default_rng(0)
    base = rng.normal(100, 10, 40)
    return [standing("a", base), standing("b", base + rng.normal(0.1, 3, 40)),
            standing("c", base + rng.normal(20, 3, 40), training_seconds=1.0, generation_tokens_per_second=900.0)]


def test_real_differences_are_significant_and_noise_is_not(three):
    pairs = put_intervals(three, DRAWN)
    found = {(pair["a"], pair["b"]): pair for pair in pairs}
    assert {names: pair["significant"] for names, pair in found.items()} == {
        ("a", "b"): False, ("a", "c"): True, ("b", "c"): True}
    assert found["a", "c"]["difference"] == pytest.approx(-0.4, abs=0.02)
    assert found["a", "c"]["low"] < found["a", "c"]["difference"] < found["a", "c"]["high"] < 0
    assert found["a", "b"]["low"] < 0 < found["a", "b"]["high"]
    assert all(pair["p_holm"] >= pair["p_value"] for pair in pairs)
    assert all(each.row["interval"][0] < each.row["bits_per_byte"] < each.row["interval"][1] for each in three)


def test_a_single_block_gives_no_interval():
    drawn = units([b"x" * 7])
    pairs = put_intervals([standing("a", np.array([5.0])), standing("b", np.array([9.0]))], drawn)
    assert len(drawn.bytes) == 1
    assert pairs == [{"a": "a", "b": "b", "difference": pytest.approx(-4 / 7), "low": None, "high": None,
                      "p_value": 1.0, "p_holm": 1.0, "significant": False}]


def test_advice_names_models_without_a_significant_difference(three):
    said = advice(three, put_intervals(three, DRAWN))
    assert "a has the lowest number" in said[0] and "its difference to b is not significant" in said[0]
    assert said[1].startswith("If it is writing speed (900 tokens a second) and training time (1.0 s), take c, which "
                              "costs 0.4")
    assert "memory" not in said[1]  # all take the same


def test_advice_recommends_a_model_that_is_significantly_better(three):
    pairs = put_intervals([three[0], three[2]], DRAWN)
    said = advice([three[0], three[2]], pairs)
    assert said[0].startswith("If quality matters most, take a:") and "significantly better" in said[0]


def test_advice_does_not_trust_a_difference_as_small_as_between_seeds(three):
    pairs = put_intervals([three[0], three[2]], DRAWN)
    for each in (three[0], three[2]):
        each.row.update(spread=0.4, seeds=[{}, {}])
    assert pairs[0]["significant"]  # on this text, between these trained models
    assert "its difference to c is not significant" in advice([three[0], three[2]], pairs)[0]


def test_advice_names_every_model_that_was_far_from_converged(three):
    pairs = put_intervals(three, DRAWN)
    for each, steps, falling in zip(three, (None, 500, 7), (None, 0.2, None), strict=True):
        each.row.update(steps=steps, still_falling=falling, seeds=[{}, {}])
    said = advice(three, pairs)
    assert said[1] == "A larger --budget may change the ranking: b and c were far from converged."
    assert sum("budget" in sentence for sentence in said) == 1


def test_a_ranking_from_one_seed_is_said_to_be_one(three):
    for each in three:
        each.row.update(steps=500, seeds=[{}])
    pairs = put_intervals([three[0], three[2]], DRAWN)
    said = advice([three[0], three[2]], pairs)[0]
    assert said.endswith("significantly better than every other model on this text (of one seed; --seeds 3 shows how "
                         "much a seed changes).")


def test_nothing_is_recommended_where_every_model_loses_to_a_compressor(three):
    pairs = put_intervals(three, DRAWN)
    for each, steps in zip(three, (500, 500, 7), strict=True):
        each.row.update(steps=steps, seeds=[{}, {}])
    said = advice(three, pairs, more=[compressor(1.5)])
    assert said[0] == ("None yet: the compressor xz needs 1.500 bits per byte, and a, the best of the models, 1.988. "
                       "Try a larger --budget, or more text to train on, or ngram, which counts the text in seconds.")
    assert "take" not in " ".join(said) and "a has the lowest number" in said[1]
    mixed = empty_row("mixture of all", "mixture", "mixture") | {"bits_per_byte": 1.4}
    assert "1.988. Only the mixture of all needs less, 1.400. Try" in advice(three, more=[compressor(1.5), mixed])[0]
    for each in three:
        each.row["steps"] = None
    said = advice(three[:1], more=[compressor(1.5)])
    assert len(said) == 1 and said[0].endswith("and a, the only model, 1.988. Try more text to train on, or a model "
                                               "that is trained in steps, such as lstm or transformer.")


def test_an_interval_of_bits_never_reaches_below_zero():
    """One of few units costs by far the most: symmetric about the mean, the interval would begin below 0."""
    bits, drawn = np.array([0.2, 1, 2, 90, 0.5, 3, 1.5, 0.7]), units([b"x" * 16] * 8)
    found = [standing("a", bits), standing("b", 40 + bits / 50)]
    assert studentized(bits[:, None], drawn.bytes)[0].low < 0
    put_intervals(found, drawn)
    (low, high), (other, _) = (each.row["interval"] for each in found)
    assert low == 0 and bits.sum() / 128 < high < 99 and other > 1


def test_a_row_that_was_better_in_the_middle_says_so():
    def trained(best, last, kept=90):
        report = {"kept": kept, "best": {"step": 30, "bits_per_byte": best},
                  "last": {"step": 90, "bits_per_byte": last}}
        return Standing(empty_row("lstm", "model", "neural"), ({"report": report},))

    assert overfitted(trained(2.0, 2.1)).startswith("lstm was better at step 30 of 90 (its curve: 2.000 bits per byte, "
                                                  "then 2.100): it overfitted the training text.")
    assert overfitted(trained(2.0, 2.01)) is None and overfitted(trained(2.0, 3.0, kept=30)) is None
    assert overfitted(Standing(empty_row("ngram", "model", "ngram"), ({"report": {}},))) is None


def test_a_compressor_as_good_as_the_best_model_is_named(three):
    put_intervals(three, DRAWN)
    assert "a is not significantly better than the compressor xz (2.000 bits per byte)." in advice(
        three, more=[compressor(2.0)])
    assert not any("xz" in sentence for sentence in advice(three, more=[compressor(3.0)]))


def test_without_comparable_models_there_is_no_advice():
    row = empty_row("words", "model", "ngram") | {"comparable": False, "bits_per_byte": 1.0}
    said, = advice_on([row], Ranking("bits_per_byte", (), ()))
    assert said.startswith("No model can be recommended: their tokens differ and lose text")
    said, = advice_on([row | {"status": "failed"}], Ranking("bits_per_byte", (), ()))
    assert said == "No model can be recommended: none gave a number."
