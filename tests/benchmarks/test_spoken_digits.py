"""Strings of spoken digits: made of one side only, the same each time, and spelled as they sound."""

import sys
from pathlib import Path

import numpy as np
import pytest
from recorded import tone, write

import chainrule
from chainrule.inputs.wav import read_wav

ROOT = Path(__file__).parents[2]
ARCHIVE = ROOT.parent / "shared" / "data" / "fsdd" / "recordings.tar.xz"
sys.path.insert(0, str(ROOT / "benchmarks"))
from spoken_digits import digits, strings  # noqa: E402


@pytest.fixture
def recordings(tmp_path):
    for number, word in enumerate(("zero", "one", "two")):
        for speaker in ("ann", "bob"):
            (tmp_path / "train" / word).mkdir(parents=True, exist_ok=True)
            write(tmp_path / "train" / word / f"{number}_{speaker}_7.wav", tone(200 + 300 * number, 0.1 + 0.1 * number))
    return tmp_path / "train"


def test_a_string_is_as_long_as_its_digits_and_its_silence(recordings, tmp_path):
    table = strings(recordings, tmp_path / "strings", 20, seed=3)
    rows = [line.split(",") for line in table.read_text().splitlines()[1:]]
    assert len(rows) == 20 and {len(text.split()) for _, text in rows} <= set(range(1, 8))
    for file, text in rows:
        words = text.split()
        said = sum({"zero": 0.1, "one": 0.2, "two": 0.3}[word] for word in words)
        seconds = len(read_wav(tmp_path / "strings" / file)[0]) / 8000
        assert said + 0.02 * (len(words) + 1) - 1e-3 <= seconds <= said + 0.2 * (len(words) + 1) + 1e-3


def test_strings_are_a_function_of_the_seed(recordings, tmp_path):
    one, same, other = (strings(recordings, tmp_path / name, 5, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert one.read_text() == same.read_text() != other.read_text()
    for n in range(5):
        assert np.array_equal(*(read_wav(table.parent / f"{n:05d}.wav")[0] for table in (one, same)))


@pytest.mark.slow
@pytest.mark.skipif(not ARCHIVE.is_file(), reason="needs the public data sets in ../shared/data")
def test_spoken_digits_are_told_apart(tmp_path):
    train, test = digits(ARCHIVE, tmp_path)
    assert len(list(train.rglob("*.wav"))) == 2250 and len(list(test.rglob("*.wav"))) == 250
    chainrule.train("speech-classifier", train, tmp_path / "run", overrides=["training.budget.steps=710"])
    assert chainrule.evaluate(tmp_path / "run", test)["accuracy"] >= 0.98  # 0.996 was measured
