"""Speed, shift, loudness, noise and masks of a spectrogram, drawn anew each time a recording is read in training."""

from __future__ import annotations

import numpy as np

from chainrule.errors import OptionError
from chainrule.recipe.registry import part

DECIBEL = np.log(10) / 10  # in the logarithm of an energy
NOISES = 30.0  # decibels between the loudest noise and the faintest


@part
class SpecAugment:
    r"""Masks over time and over bands; before them speed, shift, loudness and noise.

    y_tm = 0 for t₀ ≤ t < t₀ + τ and for m₀ ≤ m < m₀ + φ,   τ ~ U(0, time_width),   φ ~ U(0, mel_width)

    Park et al. 2019, arXiv:1904.08779, §2: `time_masks` stretches of time and `mel_masks` of bands get the mean of the
    training data; a mask of time covers at most a fifth of a recording. Frames come up to `speed` as fast or slow (Ko
    et al. 2015, "Audio augmentation for speech recognition", here by interpolating frames, so that the pitch stays),
    begin up to `shift` seconds earlier or later, are up to `gain` decibels louder or fainter, and get noise of the same
    energy in all bands, at least `noise` decibels below the recording; null adds none. Everything is changed in the
    spectrogram, so that no sound is transformed twice.
    """

    def __init__(self, *, speed: float = 0.1, shift: float = 0.05, gain: float = 6.0, noise: float | None = 15.0,
                 mel_masks: int = 2, mel_width: int = 6, time_masks: int = 2, time_width: int = 8):
        if not 0 <= speed < 1:
            raise OptionError("SpecAugment.speed", speed, "at least 0 and less than 1")
        for name, value in (("shift", shift), ("gain", gain), ("mel_masks", mel_masks), ("mel_width", mel_width),
                            ("time_masks", time_masks), ("time_width", time_width)):
            if value < 0:
                raise OptionError(f"SpecAugment.{name}", value, "at least 0")
        self.speed, self.shift, self.gain, self.noise = speed, shift, gain, noise
        self.mel_masks, self.mel_width, self.time_masks, self.time_width = mel_masks, mel_width, time_masks, time_width

    def changed(self, log_TM: np.ndarray, hop: float, draw: np.random.Generator) -> np.ndarray:
        """Log energies with another speed, beginning, loudness and noise; `hop` is the seconds from frame to frame."""
        found = _faster(log_TM, 1 + draw.uniform(-self.speed, self.speed)) if self.speed else log_TM
        if self.shift:
            found = _shifted(found, round(draw.uniform(-self.shift, self.shift) / hop))
        if self.gain:
            found = found + DECIBEL * draw.uniform(-self.gain, self.gain)
        if self.noise is not None:
            ratio = draw.uniform(self.noise, self.noise + NOISES)
            level = np.log(np.exp(found).mean()) - DECIBEL * ratio
            found = np.logaddexp(found, level + np.log(draw.exponential(size=found.shape)))
        return found.astype(np.float32, copy=False)

    def masked(self, normal_TM: np.ndarray, draw: np.random.Generator) -> np.ndarray:
        """Normalized frames, of which some stretches and bands are set to the mean."""
        found = normal_TM.copy()
        for _ in range(self.time_masks):
            found[_stretch(len(found), min(self.time_width, len(found) // 5), draw)] = 0
        for _ in range(self.mel_masks):
            found[:, _stretch(found.shape[1], min(self.mel_width, found.shape[1]), draw)] = 0
        return found


def _faster(log_TM: np.ndarray, factor: float) -> np.ndarray:
    """Frames at every `factor`-th place, between frames in proportion."""
    places = np.arange(max(1, round(len(log_TM) / factor))) * factor
    before = np.minimum(places.astype(np.int64), len(log_TM) - 1)
    after = np.minimum(before + 1, len(log_TM) - 1)
    share = np.clip(places - before, 0, 1)[:, None]
    return (1 - share) * log_TM[before] + share * log_TM[after]


def _shifted(log_TM: np.ndarray, frames: int) -> np.ndarray:
    """Begins so many frames later, with the recording's own silence before; or as many earlier."""
    if frames <= 0:
        return log_TM[min(-frames, len(log_TM) - 1):]
    return np.concatenate([np.repeat(log_TM.min(axis=0, keepdims=True), frames, axis=0), log_TM])


def _stretch(length: int, most: int, draw: np.random.Generator) -> slice:
    width = int(draw.integers(0, most + 1))
    begin = int(draw.integers(0, length - width + 1))
    return slice(begin, begin + width)
