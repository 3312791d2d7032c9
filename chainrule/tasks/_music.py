"""What tasks on music have in common: what they read, what they write, and what their models are compared on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from chainrule.errors import OptionError, UsageError
from chainrule.inputs.music import STEPS
from chainrule.task_protocols import Small
from chainrule.tasks._task import Learned, refuse_target

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.inputs.music import Piece
    from chainrule.inputs.pieces import Pieces

PICTURES = (".svg", ".png")
MOST = 12  # semitones: an octave


class OnMusic(Learned):
    """A task whose data is pieces of music, each of which is trained on or held out as a whole."""

    ranked_as: ClassVar[str] = "music"  # `compare` ranks models of all tasks of this name together
    step: str
    transpose: int

    def open(self, data: Any, recipe: Any, target: Any = None) -> Any:
        from chainrule.inputs.pieces import open_pieces

        refuse_target(self, target)
        return data if hasattr(data, "fingerprint") else open_pieces(data, recipe, self.step)

    def named_parts(self, corpus: Pieces) -> tuple[Any, Any]:
        """What to train and to validate on, where the data has parts of such names; else all of it, and nothing."""
        from chainrule.inputs.pieces import with_parts

        return with_parts(corpus, None)

    def split(self, corpus: Pieces, fraction: float, seed: int) -> tuple[Any, Any]:
        from fractions import Fraction

        from chainrule.text.split import FINEST, Fold

        share = Fraction(fraction).limit_denominator(FINEST)
        if not 0 < share < 1:
            raise OptionError("split.valid", fraction, "a number between 0 and 1", "0.1 sets a tenth aside.")
        share = max(share, Fraction(1, max(2, len(corpus.pieces))))  # of few pieces one is set aside
        return corpus.taken(Fold(share, seed, "train")), corpus.taken(Fold(share, seed, "valid"))

    def fold(self, corpus: Pieces, k: int, count: int, seed: int) -> tuple[Any, Any]:
        from chainrule.inputs.rows import OneOfFolds

        return corpus.taken(OneOfFolds(k, count, seed, "train")), corpus.taken(OneOfFolds(k, count, seed, "valid"))

    def small(self, folder: Path) -> Small:
        """Scales from different notes, with a third below."""
        pieces = [[[low + n + 4, low + n] for n in (0, 2, 4, 5, 7, 9, 11, 12)] * 2 + [[]] for low in range(48, 54)]
        (folder / "scales.json").write_text(json.dumps(pieces), encoding="utf-8")
        return Small(folder / "scales.json")

    def reading(self, recipe: Any) -> Any:
        return recipe.task["step"]

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """On held-out pieces: `tasks._held_out_pieces`."""
        from chainrule.tasks._held_out_pieces import HeldOutPieces

        refuse_target(self, targets[0] or targets[1])
        return HeldOutPieces(self, recipe, data, valid, fraction, seed)

    def check_file(self, path: Path) -> None:
        from chainrule.inputs.midi import ENDINGS, need_mido

        if path.suffix.lower() not in (*ENDINGS, *PICTURES):
            raise UsageError(f"--out = {str(path)!r}, expected a name that ends in {', '.join(ENDINGS)}, .svg or .png.")
        if path.suffix.lower() in ENDINGS:
            need_mido()

    def read_prompt(self, run: Any, given: str, length: int | None) -> str:
        """Events, as in `on60 on64 t4`, or those of a piece: its file, or one of several, as chorales.json:test#3."""
        from chainrule.inputs.music_events import events_of, is_events, piece_of_events

        if is_events(given):
            return given if length is None else events_of(piece_of_events(given).begun(length))
        pieces = self.open([given], run.recipe).pieces
        if len(pieces) != 1:
            raise OptionError("--prompt", given, f"one piece, and not {len(pieces):,}", f"The first is {given}#0.")
        return events_of(pieces[0] if length is None else pieces[0].begun(length))

    def write_generated(self, run: Any, prompt: str, generated: Any, path: Path) -> None:
        """A MIDI file, or a picture of the roll in which the prompt is shaded."""
        from chainrule.figures.rolls import roll_figure, roll_picture
        from chainrule.inputs.midi import midi_bytes
        from chainrule.inputs.music_events import piece_of_events
        from chainrule.storage.files import created

        piece = piece_of_events(f"{prompt} {generated.text}")
        begun = piece_of_events(prompt).steps
        match path.suffix.lower():
            case ".svg":
                data = roll_figure(path.stem, piece.notes, piece.steps, begun, STEPS[self.step]).svg().encode()
            case ".png":
                data = roll_picture(piece.notes, piece.steps, begun, STEPS[self.step])
            case _:
                data = midi_bytes(piece, self.step)
        with created(path) as write:
            write(data)


def check_transposition(transpose: int) -> int:
    if not 0 <= transpose <= MOST:
        raise OptionError("task.transpose", transpose, f"0 to {MOST} semitones")
    return transpose


def shifts_of(piece: Piece, most: int, low: int, high: int) -> range:
    """By how many semitones a piece may be moved so that it stays within these pitches, the upper one excluded."""
    lowest, highest = piece.range()
    return range(max(-most, low - lowest), min(most, high - 1 - highest) + 1)
