"""A few recordings to try things with: tones instead of words, one folder a pitch, and strings of them in a table."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np

RATE = 8_000
PITCHES = {"low": 300, "middle": 700, "high": 1_500}
SECONDS = 0.12


def tones(folder: Path, count: int = 4) -> Path:
    """`folder/low/0.wav`, …: tones of three pitches, each a little higher and longer than the last."""
    for name, pitch in PITCHES.items():
        (folder / name).mkdir(parents=True)
        for n in range(count):
            write_pcm(folder / name / f"{n}.wav", tone(pitch * (1 + 0.02 * n), SECONDS + 0.01 * n))
    return folder


def strings_of_tones(folder: Path, strings: Sequence[str]) -> Path:
    """`folder/strings.csv` with a recording and a text in each row, and the recordings: "low high" is two tones."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, silence = ["recording,text"], np.zeros(RATE // 20)
    for n, text in enumerate(strings):
        pieces = [piece for word in text.split() for piece in (tone(PITCHES[word] * (1 + 0.01 * n), SECONDS), silence)]
        write_pcm(folder / f"{n}.wav", np.concatenate(pieces))
        rows.append(f"{n}.wav,{text}")
    (folder / "strings.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / "strings.csv"


def tone(hertz: float, seconds: float) -> np.ndarray:
    """A sine that swells and fades."""
    time = np.arange(round(seconds * RATE)) / RATE
    return 0.5 * np.sin(2 * np.pi * hertz * time) * np.sin(np.pi * time / seconds)


def write_pcm(path: Path, samples: np.ndarray, rate: int = RATE) -> None:
    """Mono, 16 bits."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.round(np.clip(samples, -1, 1) * 32_767).astype("<i2").tobytes())
