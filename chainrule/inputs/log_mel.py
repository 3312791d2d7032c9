"""Log-mel frames: how much sound there is in each band of pitch, every hundredth of a second."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from chainrule.errors import OptionError

FLOOR = 1e-8  # added to the energies: about what rounding to 16 bits makes of silence
AT_ONCE = 1 << 14  # frames transformed together


@dataclass(frozen=True)
class Frames:
    """What a frame is: seconds that it spans, seconds to the next, its bands, and the pitch from and to in hertz."""

    window: float = 0.025
    hop: float = 0.01
    mels: int = 40
    low: float = 20.0
    high: float | None = None  # None: half the rate

    def bounds(self, rate: int) -> tuple[float, float]:
        """The lowest and the highest pitch at a sampling rate."""
        high = rate / 2 if self.high is None else self.high
        if not 0 <= self.low < high:
            raise OptionError("Recordings.low", self.low, f"at least 0 and below the highest pitch, {high:g} Hz")
        if high > rate / 2:
            raise OptionError("Recordings.high", high, f"at most half the rate, {rate / 2:g} Hz")
        return self.low, high


def log_mel(samples: np.ndarray, rate: int, frames: Frames) -> np.ndarray:
    r"""(t, mels): ln of the energy of each band in each frame.

    y_tm = ln(ε + Σ_k M_mk |Σ_n h(n) x(tH + n) e^{−2πi kn/N}|²),   h(n) = ½ − ½ cos(2πn/W)

    of W samples a frame, H to the next one; the sound is followed by zeros up to the end of the last frame. M are
    triangles, evenly spaced by mel(f) = 2595 log₁₀(1 + f/700), each 1 at its peak and 0 at those of its neighbors:
    Davis & Mermelstein 1980, "Comparison of parametric representations for monosyllabic word recognition", without
    their cosine transform; the mel of O'Shaughnessy 1987, "Speech communication". N is the first power of two of at
    least 2W.
    """
    width, step = _samples(frames.window, rate, "window"), _samples(frames.hop, rate, "hop")
    size = 1 << (2 * width - 1).bit_length()
    count = 1 + max(0, -(-(len(samples) - width) // step))
    padded = np.pad(samples, (0, max(0, (count - 1) * step + width - len(samples))))
    pieces = np.lib.stride_tricks.sliding_window_view(padded, width)[::step]
    hann, filters_MK = hann_window(width), mel_filters(rate, size, frames)
    found = np.empty((count, frames.mels), np.float32)
    for begin in range(0, count, AT_ONCE):
        spectrum_TK = np.fft.rfft(pieces[begin:begin + AT_ONCE] * hann, size)
        power_TK = spectrum_TK.real**2 + spectrum_TK.imag**2
        found[begin:begin + AT_ONCE] = np.log(power_TK @ filters_MK.T + FLOOR)
    return found


def hann_window(width: int) -> np.ndarray:
    """(W,): ½ − ½ cos(2πn/W)."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(width) / width)


@lru_cache(8)
def mel_filters(rate: int, size: int, frames: Frames) -> np.ndarray:
    """(mels, N/2 + 1): the triangles over the pitches of a transform of N samples."""
    low, high = frames.bounds(rate)
    peaks = hertz(np.linspace(mel(low), mel(high), frames.mels + 2))
    pitch = np.arange(size // 2 + 1) * rate / size
    rising = (pitch - peaks[:-2, None]) / (peaks[1:-1] - peaks[:-2])[:, None]
    falling = (peaks[2:, None] - pitch) / (peaks[2:] - peaks[1:-1])[:, None]
    found = np.maximum(0, np.minimum(rising, falling))
    if not found.any(axis=1).all():
        raise OptionError("Recordings.mels", frames.mels, f"fewer: between {low:g} and {high:g} Hz some bands are "
                          "narrower than a frame can tell", "A longer window tells more pitches apart.")
    return found


def mel(hertz: float) -> float:
    return float(2595 * np.log10(1 + hertz / 700))


def hertz(mel: np.ndarray) -> np.ndarray:
    """The reverse of `mel`."""
    return 700 * (10 ** (mel / 2595) - 1)


def _samples(seconds: float, rate: int, name: str) -> int:
    if not seconds > 0 or round(seconds * rate) < 1:
        raise OptionError(f"Recordings.{name}", seconds, f"seconds, more than {1 / rate:g}")
    return round(seconds * rate)
