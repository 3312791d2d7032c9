"""WAV files: PCM of 8, 16, 24 or 32 bits, any rate, any number of channels, as numbers from −1 to 1.

The chunks are walked here and not by the standard library's `wave`: until Python 3.12 that refuses the extensible
header, which recorders write for 24 bits, and it reads a file that was cut as if it were whole.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from chainrule.errors import DataError
from chainrule.text.corpora.packing import readable

PCM, EXTENSIBLE = 1, 0xFFFE
CODINGS = {2: "ADPCM", 3: "floating point", 6: "A-law", 7: "μ-law", 17: "IMA ADPCM", 49: "GSM", 80: "MPEG", 85: "MP3"}
OPEN_ENDED = 0xFFFFFFFF  # the size that a program writes which does not know it yet: all that follows
FIX = "Convert it, as with: ffmpeg -i {} -c:a pcm_s16le new.wav"


@dataclass(frozen=True)
class Header:
    """What a WAV file says about its samples, and where they lie in it."""

    rate: int  # samples of a channel in a second
    channels: int
    bits: int  # of a sample
    begin: int  # byte of the first sample
    size: int  # bytes of all samples

    @property
    def width(self) -> int:
        """Bytes of a sample."""
        return self.bits // 8

    @property
    def frames(self) -> int:
        """Samples of each channel."""
        return self.size // (self.width * self.channels)

    @property
    def seconds(self) -> float:
        return self.frames / self.rate


def read_header(path: Path) -> Header:
    """Refuses, in one line with the file's name, what is no whole PCM recording; reads no samples."""
    with readable(path), path.open("rb") as stream:
        size = path.stat().st_size
        if not size:
            raise DataError(f"{path}: an empty file, expected a WAV recording.")
        if (start := stream.read(12))[:4] != b"RIFF" or start[8:] != b"WAVE":
            raise DataError(f"{path}: not a WAV file: it begins with {start[:4]!r}, expected 'RIFF' and 'WAVE'. "
                            f"{FIX.format(path.name)}")
        form: tuple[int, int, int] | None = None
        for name, begin, length in _chunks(stream, size):
            if name == b"fmt ":
                form = _form(stream.read(min(length, 40)), path)
            elif name == b"data" and form is not None:
                return _checked(Header(*form, begin, size - begin if length == OPEN_ENDED else length), size, path)
    raise DataError(f"{path}: a WAV file without {'sound' if form else 'its header'}: it was cut. Record or copy it "
                    "again.")


def read_wav(path: Path) -> tuple[np.ndarray, int]:
    """Samples (n,) as float32 from −1 to 1, several channels mixed down to their mean, and their rate."""
    header = read_header(path)
    with readable(path), path.open("rb") as stream:
        stream.seek(header.begin)
        data = stream.read(header.frames * header.width * header.channels)
    samples = _numbers(data, header.width).reshape(-1, header.channels)
    return samples[:, 0] if header.channels == 1 else samples.mean(axis=1, dtype=np.float32), header.rate


def _chunks(stream: BinaryIO, size: int) -> Iterator[tuple[bytes, int, int]]:
    """Name, first byte and length of each chunk; the stream stands at its first byte."""
    place = 12
    while place + 8 <= size:
        stream.seek(place)
        name, length = struct.unpack("<4sI", stream.read(8))
        yield name, place + 8, length
        place += 8 + length + length % 2


def _form(data: bytes, path: Path) -> tuple[int, int, int]:
    """Rate, channels and bits."""
    if len(data) < 16:
        raise DataError(f"{path}: the header of the WAV file was cut. Record or copy it again.")
    coding, channels, rate, _, _, bits = struct.unpack("<HHIIHH", data[:16])
    if coding == EXTENSIBLE and len(data) >= 26:
        coding = struct.unpack("<H", data[24:26])[0]
    if coding != PCM:
        raise DataError(f"{path}: {CODINGS.get(coding, f'coding {coding}')} samples, expected PCM of 8, 16, 24 or 32 "
                        f"bits. {FIX.format(path.name)}")
    if bits not in (8, 16, 24, 32) or not channels or not rate:
        raise DataError(f"{path}: {channels} channels of {bits} bits at {rate:,} Hz, expected PCM of 8, 16, 24 or 32 "
                        f"bits. {FIX.format(path.name)}")
    return rate, channels, bits


def _checked(header: Header, size: int, path: Path) -> Header:
    if header.begin + header.size > size:
        raise DataError(f"{path}: the file was cut: its header promises {header.size:,} bytes of sound, and there are "
                        f"{size - header.begin:,}. Record or copy it again.")
    if not header.frames:
        raise DataError(f"{path}: a WAV file without any sound, expected a recording. Leave it out.")
    return header


def _numbers(data: bytes, width: int) -> np.ndarray:
    """PCM as numbers from −1 to 1; samples of 8 bits have no sign."""
    if width == 1:
        return (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128
    if width == 3:  # as the upper three bytes of 32 bits
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        return wide.reshape(-1).view("<i4").astype(np.float32) / 2**31
    return np.frombuffer(data, f"<i{width}").astype(np.float32) / 2**(8 * width - 1)
