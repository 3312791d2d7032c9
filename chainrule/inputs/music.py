"""A piece of music in steps of one length: its notes, and the same as a piano roll."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from chainrule.errors import DataError

PITCHES = 128  # of MIDI: 60 is middle C, 61 the key right of it
LOWEST, KEYS = 21, 88  # of a piano: A0 to C8
STEPS = {"quarter": 1, "8th": 2, "16th": 4}  # steps in a quarter note
LONGEST = 1 << 17  # steps of a piece: nine hours of quarter notes


class Note(NamedTuple):
    """A key that is struck at the beginning of step `start` and held until step `end` begins."""

    start: int
    pitch: int
    end: int


@dataclass(frozen=True)
class Piece:
    """Notes in the order of their starts, none longer than the piece; those of one pitch do not overlap."""

    notes: tuple[Note, ...]
    steps: int
    source: str = ""

    def begun(self, steps: int) -> Piece:
        """Its first steps."""
        kept = tuple(note._replace(end=min(note.end, steps)) for note in self.notes if note.start < steps)
        return replace(self, notes=kept, steps=min(self.steps, steps))

    def transposed(self, by: int) -> Piece:
        """So many semitones higher, or lower."""
        return replace(self, notes=tuple(note._replace(pitch=note.pitch + by) for note in self.notes))

    def range(self) -> tuple[int, int]:
        """The lowest and the highest pitch; of silence, the middle of a piano."""
        pitches = [note.pitch for note in self.notes] or [LOWEST + KEYS // 2]
        return min(pitches), max(pitches)


def piece_of(notes: Iterable[Note], steps: int, source: str = "") -> Piece:
    """A piece of any notes: where two of one pitch overlap, the second strikes the key again, and the first ends."""
    longest: dict[tuple[int, int], int] = {}
    for start, pitch, end in notes:
        longest[pitch, start] = max(end, longest.get((pitch, start), 0))
    found: list[Note] = []
    for (pitch, start), end in sorted(longest.items()):
        if found and found[-1].pitch == pitch and found[-1].end > start:
            found[-1] = found[-1]._replace(end=start)
        found.append(Note(start, pitch, min(end, steps)))
    return Piece(tuple(sorted(note for note in found if note.start < note.end)), steps, source)


def piece_of_frames(frames: Sequence[Iterable[int]], source: str = "") -> Piece:
    """A piece of the pitches that sound in each step: one that sounds on is held, since a roll shows no second stroke.
    """
    notes, since = [], dict[int, int]()
    for step, frame in enumerate([*frames, ()]):
        sounding = set(frame)
        notes += [Note(since.pop(pitch), pitch, step) for pitch in list(since) if pitch not in sounding]
        since |= {pitch: step for pitch in sounding if pitch not in since}
    return Piece(tuple(sorted(notes)), len(frames), source)


def roll_of(piece: Piece) -> np.ndarray:
    """(T, 88) bytes: 1 where a key sounds."""
    low, high = piece.range()
    if low < LOWEST or high >= LOWEST + KEYS:
        wrong = low if low < LOWEST else high
        raise DataError(f"{piece.source}: pitch {wrong}, which no piano has, expected {LOWEST} to {LOWEST + KEYS - 1}. "
                        "Models of events read it: task=music_events.")
    roll = np.zeros((piece.steps, KEYS), np.uint8)
    for start, pitch, end in piece.notes:
        roll[start:end, pitch - LOWEST] = 1
    return roll


def piece_of_roll(roll: np.ndarray, source: str = "") -> Piece:
    """The reverse, but for keys that were struck again while they sounded."""
    return piece_of_frames([np.flatnonzero(frame) + LOWEST for frame in roll], source)
