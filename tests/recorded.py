"""WAV files for tests, written by the standard library or byte by byte."""

import struct
import wave

import numpy as np

CODES = {1: lambda x: np.round(x * 127 + 128).astype(np.uint8).tobytes(),
         2: lambda x: np.round(x * 32767).astype("<i2").tobytes(),
         3: lambda x: np.round(x * (2**23 - 1)).astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes(),
         4: lambda x: np.round(x * (2.0**31 - 1)).astype("<i4").tobytes()}


def tone(hertz, seconds=0.3, rate=8000, loud=0.5):
    """A sine."""
    return loud * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def write(path, samples, rate=8000, width=2):
    """Samples (n,) or (n, channels) from −1 to 1 as PCM."""
    samples = np.atleast_2d(np.asarray(samples, float).T).T
    with wave.open(str(path), "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(CODES[width](samples.reshape(-1)))
    return path


def chunked(*chunks):
    """A RIFF file of (name, data) chunks."""
    body = b"".join(name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for name, data in chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


def form(coding=1, channels=1, rate=8000, bits=16, more=b""):
    """The chunk that says how samples are written."""
    width = channels * bits // 8
    return b"fmt ", struct.pack("<HHIIHH", coding, channels, rate, rate * width, width, bits) + more
