"""Log-mel frames agree with the definition and with a published implementation."""

import numpy as np
import pytest
from recorded import tone

from chainrule.errors import OptionError
from chainrule.inputs.log_mel import FLOOR, Frames, hann_window, hertz, log_mel, mel, mel_filters


def by_the_definition(samples, rate, frames):
    """One frame, one band and one frequency at a time, straight from the equation."""
    width, step = round(frames.window * rate), round(frames.hop * rate)
    size = 1
    while size < 2 * width:
        size *= 2
    peaks = [hertz(mel(frames.low) + n * (mel(frames.high or rate / 2) - mel(frames.low)) / (frames.mels + 1))
             for n in range(frames.mels + 2)]
    found, begin = [], 0
    while begin == 0 or begin + width - step < len(samples):
        piece = np.zeros(width)
        piece[:len(samples[begin:begin + width])] = samples[begin:begin + width]
        piece *= [0.5 - 0.5 * np.cos(2 * np.pi * n / width) for n in range(width)]
        power = [abs(sum(x * np.exp(-2j * np.pi * k * n / size) for n, x in enumerate(piece))) ** 2
                 for k in range(size // 2 + 1)]
        row = []
        for left, peak, right in zip(peaks, peaks[1:], peaks[2:], strict=False):
            energy = 0.0
            for k, p in enumerate(power):
                pitch = k * rate / size
                weight = (pitch - left) / (peak - left) if pitch <= peak else (right - pitch) / (right - peak)
                energy += max(0.0, weight) * p
            row.append(np.log(energy + FLOOR))
        found.append(row)
        begin += step
    return np.array(found)


@pytest.mark.parametrize("count", [1, 20, 21, 97])
def test_agrees_with_the_definition(count):
    frames = Frames(window=0.025, hop=0.01, mels=5, low=30.0, high=350.0)
    samples = np.random.default_rng(0).normal(size=count)
    found = log_mel(samples, 800, frames)
    np.testing.assert_allclose(found, by_the_definition(samples, 800, frames), rtol=1e-4, atol=1e-4)


def test_agrees_with_the_filters_and_spectrogram_of_transformers():
    audio = pytest.importorskip("transformers.audio_utils")
    sound = tone(440, 0.5) + 0.1 * np.random.default_rng(1).normal(size=4000)
    filters = audio.mel_filter_bank(257, 40, 20.0, 4000.0, 8000, norm=None, mel_scale="htk")
    np.testing.assert_allclose(mel_filters(8000, 512, Frames()), filters.T, atol=1e-9)
    theirs = audio.spectrogram(sound, audio.window_function(200, "hann", periodic=True), 200, 80, 512, power=2.0,
                               center=False, mel_filters=filters, mel_floor=0.0)
    np.testing.assert_allclose(log_mel(sound, 8000, Frames())[:theirs.shape[1]], np.log(theirs.T + FLOOR), atol=1e-3)


def test_a_tone_is_loudest_in_the_band_of_its_pitch():
    frames, peaks = Frames(), hertz(np.linspace(mel(20), mel(4000), 42))[1:-1]
    for pitch in (150, 440, 1800, 3500):
        loudest = log_mel(tone(pitch), 8000, frames)[5].argmax()
        assert abs(loudest - np.abs(peaks - pitch).argmin()) <= 1


def test_silence_is_the_floor_and_no_sample_is_left_out():
    assert np.allclose(log_mel(np.zeros(8000), 8000, Frames()), np.log(FLOOR))
    assert [len(log_mel(np.zeros(n), 8000, Frames())) for n in (1, 200, 201, 280, 281)] == [1, 1, 2, 2, 3]
    late = np.zeros(281)
    late[-1] = 1
    assert log_mel(late, 8000, Frames()).max(axis=1).argmax() >= 1
    assert hann_window(4).tolist() == pytest.approx([0, 0.5, 1, 0.5])


@pytest.mark.parametrize(("frames", "message"), [
    (Frames(low=5000.0), "Recordings.low = 5000.0, expected at least 0 and below the highest pitch, 4000 Hz"),
    (Frames(high=9000.0), "Recordings.high = 9000.0, expected at most half the rate, 4000 Hz"),
    (Frames(mels=400), "Recordings.mels = 400, expected fewer: between 20 and 4000 Hz some bands are narrower"),
    (Frames(hop=0.0), "Recordings.hop = 0.0, expected seconds, more than 0.000125"),
    (Frames(window=1e-5), "Recordings.window = 1e-05, expected seconds"),
])
def test_bands_that_cannot_be_are_refused(frames, message):
    with pytest.raises(OptionError, match=message):
        log_mel(np.zeros(1000), 8000, frames)
