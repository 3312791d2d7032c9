"""Calibration: the temperature is the best of all, and the error is the gap between confidence and accuracy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.evaluation.calibration import calibration_error, fitted_temperature, tempered


def sample(seed, sharpness, rows=400, classes=5):
    draw = np.random.default_rng(seed)
    logits = draw.normal(size=(rows, classes)) * 2
    p = np.exp(logits - np.log(np.exp(logits).sum(1, keepdims=True)))
    labels = np.array([draw.choice(classes, p=own) for own in p])
    return tempered(logits, 1 / sharpness), labels


def lost(log_p, labels, temperature):
    return -tempered(log_p, temperature)[np.arange(len(labels)), labels].sum()


@given(st.integers(0, 50), st.sampled_from([0.3, 1.0, 4.0]))
def test_no_other_temperature_has_a_smaller_loss(seed, sharpness):
    log_p, labels = sample(seed, sharpness)
    best = fitted_temperature(log_p, labels)
    grid = np.exp(np.linspace(np.log(0.06), np.log(19), 300))
    assert lost(log_p, labels, best) <= min(lost(log_p, labels, each) for each in grid) + 1e-6


def test_a_model_that_is_too_sure_becomes_honest():
    log_p, labels = sample(0, 4.0, rows=5000)
    best = fitted_temperature(log_p, labels)
    assert best == pytest.approx(4.0, rel=0.15)

    def error(logs):
        return calibration_error(np.exp(logs.max(1)), logs.argmax(1) == labels)

    assert error(log_p) > 0.1 > 3 * error(tempered(log_p, best))


def test_the_error_agrees_with_the_definition():
    draw = np.random.default_rng(3)
    p, right = draw.random(200), draw.random(200) < 0.5
    expected = 0.0
    for low in np.arange(15) / 15:
        inside = (p > low) & (p <= low + 1 / 15)
        if inside.any():
            expected += inside.sum() / 200 * abs(p[inside].mean() - right[inside].mean())
    assert calibration_error(p, right) == pytest.approx(expected)
    assert np.isnan(calibration_error(np.zeros(0), np.zeros(0, bool)))
