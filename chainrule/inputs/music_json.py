"""Pieces in one JSON value: `{part: [piece, …]}`, a piece a list of steps, a step the list of pitches that sound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.inputs.json_parts import json_parts
from chainrule.inputs.music import LONGEST, PITCHES, Piece, piece_of_frames

SHAPE = '{"train": [[[60, 64, 67], [60, 65]], …], …}: parts of pieces of steps of pitches'
SILENT = -1  # a voice that has no note at a step


def read_pieces(path: Path, longest: int) -> dict[str, tuple[Piece, ...]]:
    """The pieces of each part; a list by itself is the part without a name. At most `longest` MiB are read."""
    parts = json_parts(path, longest, holds="music", expected=SHAPE)
    return {name: tuple(_piece(each, f"{path}:{name}#{n}" if name else f"{path}#{n}") for n, each in enumerate(pieces))
            for name, pieces in parts.items()}


def _piece(steps: Any, source: str) -> Piece:
    if not isinstance(steps, list) or not steps:
        raise DataError(f"{source}: {_shown(steps)}, expected a list of steps, at least one.")
    if len(steps) > LONGEST:
        raise DataError(f"{source}: {len(steps):,} steps, expected at most {LONGEST:,}.")
    for number, step in enumerate(steps):
        if not isinstance(step, list):
            raise DataError(f"{source}: step {number}: {_shown(step)}, expected a list of pitches, such as [60, 64, "
                            "67].")
        for pitch in step:
            if type(pitch) not in (int, float) or not SILENT <= pitch < PITCHES or int(pitch) != pitch:
                raise DataError(f"{source}: step {number}: pitch {_shown(pitch)}, expected a whole number from 0 to "
                                f"{PITCHES - 1}, or {SILENT} for a voice that is silent.")
    return piece_of_frames([[int(pitch) for pitch in step if pitch != SILENT] for step in steps], source)


def _shown(value: Any) -> str:
    return json.dumps(value)[:40]
