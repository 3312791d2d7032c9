"""Whether a training had much left to learn: told from its own curve, for every training."""

import pytest

from chainrule.experiments.convergence import fall_at_end, far_from_end, unconverged
from chainrule.experiments.standings import empty_row


def curve(*bits, key="valid_bits_per_byte"):
    return [{"tokens": 1000 * (n + 1), key: each} for n, each in enumerate(bits)]


def test_the_fall_is_that_of_the_second_half():
    assert fall_at_end(curve(8.0, 4.0, 3.0, 2.0)) == pytest.approx(0.5)  # from 4 at half of the tokens
    assert fall_at_end(curve(8.0, 2.0, 2.0, 2.0)) == 0
    assert fall_at_end(curve(4.0, 2.0, 2.2, 2.4)) == pytest.approx(-0.2)  # it overfits: there is nothing left to learn


def test_without_validation_the_training_curve_counts_and_two_points_say_nothing():
    both = curve(4.0, 3.0, 2.0, 1.0, key="bits_per_byte") + curve(9.0, 8.0)
    assert fall_at_end(both) == pytest.approx(1 - 1 / 3)
    assert fall_at_end(curve(9.0, 8.0)) is None and fall_at_end([]) is None
    assert fall_at_end([{"tokens": 900 + n, "bits_per_byte": 9.0 - n} for n in range(5)]) is None  # all at the end


@pytest.mark.parametrize(("steps", "falling", "words"), [
    (25, 0.12, "its curve still fell by 12.0% in the second half of its 25 steps."),
    (7, None, "it made 7 steps within"), (7, 0.01, "it made 7 steps within"),
    (1, None, "it made 1 step within"), (5000, 0.01, None), (5000, -0.1, None),
    (None, None, None)])
def test_a_note_has_the_evidence(steps, falling, words):
    row = empty_row("lstm", "model", "neural") | {"steps": steps, "still_falling": falling}
    assert unconverged(row) == (words is not None)
    assert far_from_end(row) is None if words is None else (
        words in far_from_end(row) and far_from_end(row).startswith("lstm was far from converged: "))
