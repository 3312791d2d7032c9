"""Resampling: sines keep their pitch, what a lower rate cannot have is damped, and SciPy agrees."""

import numpy as np
import pytest
from recorded import tone

from chainrule.inputs.resampling import resampled


def by_the_definition(samples, rate, wanted, zeros=16, beta=8.0, band=0.95):
    """One sample at a time, straight from the equation."""
    cutoff, found = band * min(1, wanted / rate), []
    for n in range(-(-len(samples) * wanted // rate)):
        t = np.arange(len(samples)) - n * rate / wanted
        inside = np.abs(t) * cutoff <= zeros
        weight = np.where(inside, np.sinc(cutoff * t) * np.i0(beta * np.sqrt(np.maximum(
            0, 1 - (t * cutoff / zeros) ** 2))), 0)
        found.append((weight * samples).sum() * cutoff / np.i0(beta))
    return np.array(found)


@pytest.mark.parametrize(("rate", "wanted"), [(44100, 8000), (8000, 16000), (48000, 16000), (11025, 8000), (7, 5)])
def test_agrees_with_the_definition(rate, wanted):
    samples = np.random.default_rng(0).normal(size=613)
    np.testing.assert_allclose(resampled(samples, rate, wanted), by_the_definition(samples, rate, wanted), atol=2e-3)


@pytest.mark.parametrize("rate", [44100, 22050, 16000, 48000, 11025, 6000])
def test_a_sine_stays_the_same_sine(rate):
    found = resampled(tone(440, 0.5, rate), rate, 8000)
    assert len(found) == 4000
    np.testing.assert_allclose(found[400:-400], tone(440, 0.5, 8000)[400:-400], atol=1e-3)


def test_what_the_lower_rate_cannot_have_is_damped():
    assert np.abs(resampled(tone(6000, 0.5, 44100), 44100, 8000)[400:-400]).max() < 1e-3  # or it would sound as 2000 Hz


def test_scipy_agrees_within_the_band():
    signal = pytest.importorskip("scipy.signal")
    sound = tone(300, 1.0, 44100) + tone(1700, 1.0, 44100, 0.3)
    theirs = signal.resample_poly(sound, 80, 441)
    np.testing.assert_allclose(resampled(sound, 44100, 8000)[400:-400], theirs[400:-400], atol=5e-3)


def test_the_same_rate_changes_nothing_and_one_sample_is_enough():
    samples = tone(440)
    assert resampled(samples, 8000, 8000) is samples
    assert len(resampled(np.ones(1), 44100, 8000)) == 1 and len(resampled(np.ones(1), 8000, 44101)) == 6
