"""Which differences are significant, and advice that claims no more than that."""

import numpy as np
import pytest

from chainrule.experiments.advice import advice
from chainrule.experiments.losses import Losses, units
from chainrule.experiments.pairs import put_intervals
from chainrule.experiments.standings import Standing, empty_row, overfitted

DRAWN = units([b"x" * 50] * 40)


def standing(name, bits_per_document, **measured):
    row = empty_row(name, "model", "ngram") | {"bits_per_byte": float(bits_per_document.sum() / 2000)}
    row["measured"] = {"training_seconds": 10.0, "tokens_per_second": 5.0, "peak_memory": 2**20,
                       "generation_tokens_per_second": 100.0} | measured
    return Standing(row, losses=(Losses(np.arange(1, 2041), np.zeros(2040)),), unit_bits=bits_per_document)


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
    rows = [each.row for each in three]
    pairs = put_intervals(three, DRAWN)
    said = advice(rows, pairs)
    assert "a has the lowest number" in said[0] and "its difference to b is not significant" in said[0]
    assert said[1].startswith("If it is writing speed (900 tokens a second) and training time (1.0 s), take c, which "
                              "costs 0.4")
    assert "memory" not in said[1]  # all take the same


def test_advice_recommends_a_model_that_is_significantly_better(three):
    pairs = put_intervals([three[0], three[2]], DRAWN)
    said = advice([three[0].row, three[2].row], pairs)
    assert said[0].startswith("If quality matters most, take a:") and "significantly better" in said[0]


def test_advice_does_not_trust_a_difference_as_small_as_between_seeds(three):
    pairs = put_intervals([three[0], three[2]], DRAWN)
    for each in (three[0], three[2]):
        each.row.update(spread=0.4, seeds=[{}, {}])
    assert pairs[0]["significant"]  # on this text, between these trained models
    assert "its difference to c is not significant" in advice([three[0].row, three[2].row], pairs)[0]


def test_advice_does_not_rank_undertrained_models(three):
    pairs = put_intervals(three, DRAWN)
    for each, steps in zip(three, (None, 500, 7), strict=True):
        each.row["steps"] = steps
    said = advice([each.row for each in three], pairs)
    assert said[1] == "A larger budget may change the ranking: c (7) made too few steps to learn much."
    assert sum("budget" in sentence for sentence in said) == 1


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
    xz = empty_row("xz", "compressor", None) | {"bits_per_byte": 1.5}
    assert any("No model is significantly better than the compressor xz (1.500 bits per byte)" in each
               for each in advice([each.row for each in three] + [xz], []))


def test_without_comparable_models_there_is_no_advice():
    row = empty_row("words", "model", "ngram") | {"comparable": False, "bits_per_byte": 1.0}
    assert advice([row], []) == ["No model can be recommended: none has comparable bits per byte."]
