"""Free Spoken Digit Dataset as files: one folder a digit, and strings of digits made by joining recordings.

By the data set's own rule the recordings 0 to 4 of each digit and speaker are the test, the others are to train on.
Strings are made of one side only, so no sound of a test string was trained on. All of it is a function of the seed.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np

from chainrule.inputs.small_recordings import write_pcm
from chainrule.inputs.wav import read_wav

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
RATE = 8_000
TEST = 5  # recordings of each digit and speaker
MOST = 7  # digits of a string
SILENCE = (0.02, 0.2)  # seconds between two digits, and before and after them
NOISE = 3e-4  # deviation of the silence's noise: the recordings have some, too


def digits(archive: Path, folder: Path) -> tuple[Path, Path]:
    """`folder/train/three/3_name_7.wav`, …, and the same under `folder/test`."""
    with tarfile.open(archive) as packed:
        for member in packed:
            name = Path(member.name)
            if not member.isfile() or name.suffix != ".wav":
                continue
            digit, _, number = name.stem.split("_")
            target = folder / ("test" if int(number) < TEST else "train") / WORDS[int(digit)] / name.name
            target.parent.mkdir(parents=True, exist_ok=True)
            stream = packed.extractfile(member)
            assert stream is not None
            target.write_bytes(stream.read())
    return folder / "train", folder / "test"


def strings(recordings: Path, folder: Path, count: int, seed: int) -> Path:
    """A table of `count` strings of 1 to 7 digits, each by one speaker, with its recordings beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(seed)
    sounds = {path: read_wav(path)[0] for path in sorted(recordings.rglob("*.wav"))}
    by_speaker: dict[str, dict[str, list[Path]]] = {}
    for path in sounds:
        by_speaker.setdefault(path.stem.split("_")[1], {}).setdefault(path.parent.name, []).append(path)
    rows = ["recording,text"]
    for n in range(count):
        own = by_speaker[str(draw.choice(sorted(by_speaker)))]
        said = [str(each) for each in draw.choice(sorted(own), int(draw.integers(1, MOST + 1)))]
        pieces = [_silence(draw)]
        for word in said:
            pieces += [sounds[own[word][int(draw.integers(len(own[word])))]], _silence(draw)]
        write_pcm(folder / f"{n:05d}.wav", np.concatenate(pieces), RATE)
        rows.append(f"{n:05d}.wav,{' '.join(said)}")
    (folder / "strings.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / "strings.csv"


def _silence(draw: np.random.Generator) -> np.ndarray:
    return draw.normal(0.0, NOISE, round(float(draw.uniform(*SILENCE)) * RATE)).astype(np.float32)
