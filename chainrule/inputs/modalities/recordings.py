"""Recordings as frames of log-mel energies."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.inputs.arrays import padded
from chainrule.inputs.log_mel import Frames, log_mel
from chainrule.inputs.modalities._modality import Facts, Modality
from chainrule.inputs.resampling import resampled
from chainrule.inputs.small_recordings import tones
from chainrule.inputs.wav import read_header, read_wav
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part
from chainrule.task_protocols import Small

if TYPE_CHECKING:
    from chainrule.jobs import Job

HIGHEST = 16_000  # Hz, where recordings have more and the recipe says nothing: speech has little above half of it
LOOKED_AT = 2_000  # recordings from which mean and deviation are computed
log = logging.getLogger("chainrule")


@part
class Recordings(Modality):
    """Recordings (.wav) as frames of log-mel energies, of mean 0 and deviation 1 in each band.

    x_tm = (y_tm − μ_m) / σ_m, with y of `inputs.log_mel` and μ, σ of the training data. `rate` is what all are brought
    to; null: the rate that most of the training recordings have, at most 16 kHz. Several channels are mixed down.
    """

    called, plural, endings, view = "recording", "recordings", (".wav",), "recordings"

    def __init__(self, *, rate: int | None = None, window: float = 0.025, hop: float = 0.01, mels: int = 40,
                 low: float = 20.0, high: float | None = None,
                 augment: Annotated[Choice | None, PartOf("inputs/augmentations", True)] = None):
        if rate is not None and rate < 1_000:
            raise OptionError("Recordings.rate", rate, "at least 1000, in samples a second", "8000 is a telephone's.")
        if mels < 1:
            raise OptionError("Recordings.mels", mels, "at least 1")
        self.rate, self.frames = rate, Frames(window, hop, mels, low, high)
        self.augment = None if augment is None else build("inputs/augmentations", augment)

    def small(self, folder: Path) -> Small:
        return Small(tones(folder / "tones"), recipe={
            "tokenizer": None, "model": {"embedding": "frames", "head": "untied", "pooling": "mean", "context": 50}})

    def learn(self, values: Sequence[bytes], job: Job) -> tuple[Any, dict[str, Any]]:
        rate = self.rate
        if rate is None:
            counted = Counter(_read(value, read_header).rate for value in values)
            rate = min(HIGHEST, counted.most_common(1)[0][0])
        self.frames.bounds(rate)
        some = values[::-(-len(values) // LOOKED_AT)]
        count, total, squares = 0, np.zeros(self.frames.mels), np.zeros(self.frames.mels)
        for value in some:
            own = self._frames(value, rate).astype(np.float64)
            count, total, squares = count + len(own), total + own.sum(0), squares + (own**2).sum(0)
        mean = total / count
        deviation = np.sqrt(np.maximum(squares / count - mean**2, 1e-6))
        return None, {"rate": rate, "mean": [round(float(each), 5) for each in mean],
                      "deviation": [round(float(each), 5) for each in deviation]}

    def sizes(self, vocabulary: int, facts: Facts) -> tuple[int, tuple[int, ...]]:
        return 0, (self.frames.mels,)

    def encode(self, values: Sequence[bytes], tokenizer: Any, facts: Facts, most: int) -> list[np.ndarray]:
        """(t, mels) log energies; only the beginning of a recording of more than `most` frames."""
        rate, found = int(facts["rate"]), []
        other, long = list[Path](), list[Path]()
        for value in values:
            header = _read(value, read_header)
            if header.rate != rate or header.channels > 1:
                other.append(_path(value))
            own = self._frames(value, rate)
            if len(own) > most:
                long.append(_path(value))
            found.append(own[:most])
        _say_resampled(other, rate)
        _say_cut(long, most, self.frames.hop)
        return found

    def _frames(self, value: bytes, rate: int) -> np.ndarray:
        samples, own = _read(value, read_wav)
        return log_mel(resampled(samples, own, rate), rate, self.frames)

    def batch(self, arrays: Sequence[np.ndarray], facts: Facts, draw: np.random.Generator | None
              ) -> tuple[np.ndarray, np.ndarray]:
        mean, deviation = (np.array(facts[name], np.float32) for name in ("mean", "deviation"))
        rows = []
        for own in arrays:
            if draw is not None and self.augment is not None:
                own = self.augment.changed(own, self.frames.hop, draw)
            normal = (own - mean) / deviation
            rows.append(normal if draw is None or self.augment is None else self.augment.masked(normal, draw))
        return padded(rows, dtype=np.float32), np.array([len(each) for each in rows])

    def spectrogram(self, array: np.ndarray, facts: Facts) -> np.ndarray:
        """(mels, t) of an encoded recording as the network sees it, the lowest band last: as it is drawn."""
        return self.batch([array], facts, None)[0][0].T[::-1]


def _path(value: bytes) -> Path:
    return Path(os.fsdecode(value))


def _read(value: bytes, read: Callable[[Path], Any]) -> Any:
    """Of a file that a row of a table names, messages name the row too."""
    try:
        return read(_path(value))
    except DataError as error:
        raise DataError(f"{getattr(value, 'where', '')}{error}") from None


def _say_resampled(paths: Sequence[Path], rate: int) -> None:
    if paths:
        header = read_header(paths[0])
        channels = f"{header.channels} channel{'s' * (header.channels > 1)}"
        which = f"{paths[0]}:" if len(paths) == 1 else f"{len(paths):,} recordings, the first {paths[0]} with"
        log.info(f"{which} {header.rate:,} Hz, {channels}: mixed down and resampled to {rate:,} Hz mono "
                 "(task.inputs.rate).")


def _say_cut(paths: Sequence[Path], most: int, hop: float) -> None:
    if paths:
        which = f"{paths[0]} is" if len(paths) == 1 else f"{len(paths):,} recordings, the first {paths[0]}, are"
        log.warning(f"{which} longer than model.context = {most:,} frames ({most * hop:g} s): only the beginning is "
                    "read.")
