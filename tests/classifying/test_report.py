"""The report of a classifier's answers agrees with scikit-learn, and its mistakes are the right ones."""

import numpy as np
import pytest

from chainrule.classifying.report import OUTSIDE, Answered
from chainrule.inputs.labeled import Example

LABELS = ["a", "b", "c"]


def answered(seed, rows=300):
    draw = np.random.default_rng(seed)
    logs = np.log(draw.dirichlet(np.ones(3), size=rows))
    true = [str(draw.choice([*LABELS, "never seen"])) for _ in range(rows)]
    found = Answered(LABELS)
    examples = [Example(f"text {n}".encode(), (label,), "file", n + 1) for n, label in enumerate(true)]
    for begin in range(0, rows, 70):
        found.add(logs[begin:begin + 70], examples[begin:begin + 70], {label: n for n, label in enumerate(LABELS)})
    return found, true, [LABELS[n] for n in logs.argmax(1)]


@pytest.mark.parametrize("seed", range(3))
def test_macro_f1_is_scikit_learns(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    found, true, given = answered(seed)
    figures = found.figures(draws=500)
    assert figures["macro_f1"] == pytest.approx(metrics.f1_score(true, given, average="macro"))
    low, high = figures["interval"]["macro_f1"]
    assert low < figures["macro_f1"] < high and high - low < 0.2


def test_confusions_and_mistakes_are_counted():
    found, true, given = answered(1)
    figures = found.figures(draws=0)
    wrong = [(one, other) for one, other in zip(true, given, strict=True) if one != other]
    assert {(row["true"], row["given"]): row["count"] for row in figures["confusions"]} == {
        pair: wrong.count(pair) for pair in wrong}
    assert all(row["log_probability"] is None for row in figures["most_wrong"]), "labels never seen are the most wrong"
    assert "macro_f1" not in figures["interval"] and len(figures["most_wrong"]) == 10


def test_a_rejected_input_is_right_where_training_had_none_of_its_labels():
    """One is found, one is wrong, one is rejected though it is known, two are out of scope: one of them is rejected."""
    found = Answered(LABELS[:2], threshold=0.8)
    sure = np.log([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [0.9, 0.1]])
    own = [LABELS[0], LABELS[1], LABELS[0], "new", "new"]
    found.add(sure, [Example(b"text", (label,), "file", n) for n, label in enumerate(own)],
              {label: n for n, label in enumerate(LABELS[:2])})
    figures, (first, second) = found.figures(0), LABELS[:2]
    assert figures["confusions"] == [{"true": second, "given": first, "count": 1},
                                     {"true": first, "given": OUTSIDE, "count": 1},
                                     {"true": OUTSIDE, "given": first, "count": 1}]
    low, high = figures["interval"]["accuracy"]
    assert low < 2 / 5 < high
    assert figures["macro_f1"] == pytest.approx((2 / 5 + 0 + 2 / 4) / 3)  # of first, second, and out of scope
    assert figures["calibration_error"] == pytest.approx(0.9 - 1 / 3)  # of the three that are not rejected
