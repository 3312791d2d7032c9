"""MIDI files: read into steps of one length, and written so that a player opens them."""

from __future__ import annotations

import io
import logging
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chainrule.errors import DataError, UsageError
from chainrule.inputs.music import LONGEST, STEPS, Note, Piece, piece_of

log = logging.getLogger("chainrule")
ENDINGS = (".mid", ".midi")
INSTALL = "MIDI files are read and written by mido. Install it with: pip install 'chainrule[music]'"
MOST = 16 << 20  # bytes of a file
DRUMS = 9  # the channel whose keys are drums, in General MIDI
TICKS, TEMPO, LOUD, PIANO = 480, 80, 80, 0  # of what is written: ticks and tempo of quarter notes, velocity, program


def need_mido() -> None:
    """Before the work."""
    if find_spec("mido") is None:
        raise UsageError(INSTALL)


def read_midi(path: Path, step: str) -> Piece:
    """All channels but drums in one; notes begin and end at the nearest step, and have at least one."""
    need_mido()
    file = _parsed(path)
    if file.ticks_per_beat < 1:
        raise DataError(f"{path}: its time is in frames of film (division {file.ticks_per_beat}), expected ticks of a "
                        "quarter note. Export it again with musical time.")
    notes, drums, end = _notes(file)
    per_step = file.ticks_per_beat / STEPS[step]
    if end / per_step > LONGEST:
        raise DataError(f"{path}: {end / per_step:,.0f} steps, expected at most {LONGEST:,}. Is a time in it damaged?")
    quantized = [Note(start := round(begin / per_step), pitch, max(start + 1, round(stop / per_step)))
                 for begin, pitch, stop in notes]
    if not quantized:
        raise DataError(f"{path}: no note in it{' but drums' if drums else ''}, expected some.")
    if drums:
        log.info(f"{path}: {drums:,} strokes of drums (channel 10) left out.")
    return piece_of(quantized, max(note.end for note in quantized), str(path))


def _parsed(path: Path) -> Any:
    import mido

    try:
        data = path.read_bytes() if path.stat().st_size <= MOST else None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}).") from None
    if data is None:
        raise DataError(f"{path}: more than {MOST >> 20} MiB, which no piece of music needs. Is it a MIDI file?")
    if not data.startswith(b"MThd"):
        raise DataError(f"{path}: not a MIDI file: it begins with {data[:4]!r}, expected 'MThd'.")
    try:
        return mido.MidiFile(file=io.BytesIO(data), clip=True)
    except Exception as error:  # mido raises what its reading runs into: EOFError, KeyError, ValueError and others
        said = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path}: a damaged MIDI file ({said}). Copy or export it again.") from None


def _notes(file: Any) -> tuple[list[tuple[int, int, int]], int, int]:
    """(begin, pitch, end) in ticks, the number of drum strokes, and the last tick; a note that never ends does there.
    """
    notes, drums, last = [], 0, 0
    for track in file.tracks:
        now, since = 0, dict[tuple[int, int], int]()
        for message in track:
            now += message.time
            if message.type not in ("note_on", "note_off"):
                continue
            key, struck = (message.channel, message.note), message.type == "note_on" and message.velocity > 0
            if message.channel == DRUMS:
                drums += struck
                continue
            if key in since:
                notes.append((since.pop(key), message.note, now))
            if struck:
                since[key] = now
            last = max(last, now)
        notes += [(begin, pitch, max(now, begin + 1)) for (_, pitch), begin in since.items()]
        last = max([last, *(now for _ in since)])
    return notes, drums, last


def midi_bytes(piece: Piece, step: str) -> bytes:
    """A MIDI file of one track, at 80 quarter notes a minute."""
    need_mido()
    import mido

    per_step, when = TICKS // STEPS[step], []
    for start, pitch, end in piece.notes:
        when += [(start * per_step, 1, pitch), (end * per_step, 0, pitch)]
    track = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=mido.bpm2tempo(TEMPO)),
                            mido.Message("program_change", program=PIANO)])
    now = 0
    for tick, struck, pitch in sorted(when):  # at one time keys are let go before others are struck
        track.append(mido.Message("note_on" if struck else "note_off", note=pitch, velocity=LOUD if struck else 0,
                                  time=tick - now))
        now = tick
    track.append(mido.MetaMessage("end_of_track", time=piece.steps * per_step - now))
    out = io.BytesIO()
    mido.MidiFile(ticks_per_beat=TICKS, tracks=[track]).save(file=out)
    return out.getvalue()
