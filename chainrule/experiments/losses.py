"""The bits of each token along the held-out text, so that models with different tokens can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.evaluation.evaluate import BIT
from chainrule.evaluation.resampling import FEW, STRETCHES, stretch_bytes

LEAST = 4  # units needed for an interval: with fewer, every twentieth resample is the same unit repeated


@dataclass(frozen=True)
class Losses:
    """Token t ends at place `ends[t]` and cost `bits[t]`. Places count bytes, and one for the end of each document."""

    ends: np.ndarray
    bits: np.ndarray

    def between(self, places: np.ndarray) -> np.ndarray:
        """Bits of the text between each two neighboring places; a token across a place is shared by its bytes."""
        total = np.interp(places, np.append(0, self.ends), np.append(0.0, np.cumsum(self.bits)))
        return np.diff(total)


def places(tokenizer: Any, encoded: Any, texts: Sequence[bytes]) -> np.ndarray | None:
    """Where each token ends; None if the tokens lose text, so that places are unknown."""
    if not tokenizer.keeps_space or encoded.lost != 0:
        return None
    lengths_V = byte_lengths(tokenizer)
    lengths = lengths_V[np.asarray(encoded.ids)].astype(np.int64)
    lasts = np.asarray(encoded.ends) - 1
    lengths[lasts] = 0
    inner = np.add.reduceat(lengths, np.append(0, lasts[:-1] + 1))
    lengths[lasts] = np.asarray(encoded.bytes) - inner  # the newline of a line; nothing at the end of a document
    ends, stops = np.cumsum(lengths), np.cumsum([len(text) for text in texts])
    units = ends[lasts]
    if not np.isin(lengths[lasts], (0, 1)).all() or not np.isin(stops, units).all() or units[-1] != stops[-1]:
        return None
    closing = lasts[np.searchsorted(units, stops, side="right") - 1]  # the last token of each document
    return ends + np.searchsorted(closing, np.arange(len(ends)), side="right")


def byte_lengths(tokenizer: Any) -> np.ndarray:
    """(V,) bytes of text that each token stands for."""
    known = tokenizer.byte_lengths()
    if known is not None:
        return known
    spelled = (tokenizer.decode(np.array([id], np.int32)) for id in range(tokenizer.vocabulary_size))
    return np.array([len(text.encode()) for text in spelled], np.int32)


def document_places(texts: Sequence[bytes]) -> np.ndarray:
    """(documents + 1,): where each begins, and where the last ends."""
    return np.append(0, np.cumsum([len(text) + 1 for text in texts]))


@dataclass(frozen=True)
class Units:
    """The units that the bootstrap resamples: stretches between places, and their bytes."""

    places: np.ndarray
    bytes: np.ndarray
    kind: str  # documents, blocks or lines
    note: str | None


def units(texts: Sequence[bytes], piece: str = "document") -> Units:
    """Documents, or what else the texts are, where there are enough of them; else blocks of consecutive text."""
    bounds = document_places(texts)
    sizes = np.diff(bounds) - 1
    total = int(sizes.sum())
    if len(texts) >= FEW:
        note = None if piece != "block" else (
            f"the held-out text is {len(texts):,} blocks of about {total // len(texts):,} bytes, cut from longer "
            "documents: intervals come from these blocks, as if they were independent.")
        return Units(bounds, sizes, f"{piece}s", note)
    size = stretch_bytes(total)
    inner = [np.linspace(a, b, max(1, round((b - a - 1) / size)) + 1).round().astype(np.int64)[:-1]
             for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
    cuts = np.append(np.concatenate(inner), bounds[-1])
    blocks = np.diff(cuts) - np.isin(cuts[1:], bounds)  # the end of a document is a place and no byte
    what = (f"{_count(len(texts), 'document')} of {total:,} bytes" if piece == "document" else
            f"{total:,} bytes in {_count(len(texts), 'passage')}")
    note = (f"the held-out text is {what}: intervals come from {_count(len(blocks), 'block')} of about {size:,} bytes "
            "of consecutive text, as if they were independent.")
    if len(blocks) < STRETCHES // 2:
        note += (" So little text gives wide intervals." if len(blocks) >= LEAST else
                 " So little text is not enough for an interval.")
    return Units(cuts, blocks, "blocks", note)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def bits(log_p: np.ndarray) -> np.ndarray:
    return np.asarray(-log_p / BIT, np.float64)
