"""General-purpose compressors: a well-known baseline."""

from __future__ import annotations

import bz2
import lzma
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chainrule.text.corpora.corpus import Corpus

REMEMBERED = 16 << 20  # bytes of the end of the training text that they are shown first
PROGRAMS: dict[str, Callable[[bytes], bytes]] = {
    "zlib": lambda data: zlib.compress(data, 9),
    "bz2": lambda data: bz2.compress(data, 9),
    "xz": lambda data: lzma.compress(data, preset=9),
}


def compressed(train: Corpus, held_out: Sequence[bytes]) -> dict[str, dict[str, Any]]:
    """Bits per byte of the held-out text after the training text, C(train + held out) − C(train), and on its own.

    So a compressor learns from the same text as the models, as far back as its window reaches.
    """
    before, text = tail(train, REMEMBERED), b"".join(held_out)
    found = {}
    for name, program in PROGRAMS.items():
        began = time.perf_counter()
        alone = len(program(text))
        more = len(program(before + text)) - len(program(before))
        found[name] = {"bits_per_byte": 8 * more / len(text), "alone": 8 * alone / len(text),
                       "seconds": time.perf_counter() - began, "remembered": len(before)}
    return found


def unmeasurable(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Those whose number is no cost: what is added to a short text can make it compress better, bz2 above all."""
    return [name for name, facts in found.items() if facts["bits_per_byte"] <= 0]


def tail(corpus: Corpus, most: int) -> bytes:
    """The end of a text."""
    kept = b""
    for chunk in corpus.chunks():
        kept = (kept + chunk.data)[-most:]
    return kept
