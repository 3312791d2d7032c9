"""Pieces of music as a corpus: JSON with parts, MIDI files, folders of them; as a text, each piece is a line."""

from __future__ import annotations

import glob
import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.inputs.labeled_json import TRAIN, VALID
from chainrule.inputs.midi import ENDINGS, read_midi
from chainrule.inputs.music import Piece
from chainrule.inputs.music_events import events_of
from chainrule.inputs.music_json import read_pieces
from chainrule.text.corpora.corpus import CHUNK, Chunk
from chainrule.text.corpora.finding import named
from chainrule.text.corpora.packing import is_json
from chainrule.text.split import Rule

log = logging.getLogger("chainrule")
EXPECTED = "pieces as JSON (.json, packed or not), MIDI files (.mid, .midi), or a folder of these"


@dataclass(frozen=True)
class Pieces:
    """Pieces by the part of the data that they belong to, which has no name where there is one alone.

    It is a text corpus too, with a line for each piece of all parts in the notation of `music_events`.
    """

    name: str
    files: tuple[str, ...]
    parts: Mapping[str, tuple[Piece, ...]]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All of them; one part must be chosen where there are several."""
        if len(self.parts) > 1:
            first = next(iter(self.parts))
            raise DataError(f"{self.name}: several parts, and none is named, expected for example "
                            f"{self.files[0]}:{first}. It has {', '.join(map(repr, self.parts))}.")
        return next(iter(self.parts.values()), ())

    @property
    def size(self) -> int:
        return sum(Path(file).stat().st_size for file in self.files)

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        for number, piece in enumerate((piece for own in self.parts.values() for piece in own), start=1):
            yield Chunk(f"{events_of(piece)}\n".encode(), piece.source, number, True)

    def fingerprint(self) -> str:
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        found = hashlib.sha256(b"pieces 1\n")
        for name, pieces in self.parts.items():
            found.update(f"[{name}]\n".encode(errors="replace"))
            for piece in pieces:
                found.update(f"{events_of(piece)}\n".encode())
        return found.hexdigest()

    def part(self, name: str) -> Pieces:
        return replace(self, name=f"{self.name}:{name}", parts={name: self.parts[name]})

    def only(self, pieces: Sequence[Piece], name: str) -> Pieces:
        """Other pieces of the same files."""
        return replace(self, name=name, parts={"": tuple(pieces)})

    def taken(self, rule: Rule) -> Pieces:
        """Those that a rule takes by their number."""
        own = with_parts(self, None)[0].pieces
        return self.only([piece for number, piece in enumerate(own) if rule.takes(number)], f"{self.name} ({rule})")


def with_parts(corpus: Pieces, valid: Any) -> tuple[Pieces, Any]:
    """What to train and to validate on: of data with parts those of such names, unless others are named."""
    if len(corpus.parts) < 2 or TRAIN not in corpus.parts:
        return corpus, valid
    usual = next((corpus.part(name) for name in VALID if name in corpus.parts), None)
    return corpus.part(TRAIN), usual if valid is None else valid


def open_pieces(data: Any, recipe: Any, step: str) -> Pieces:
    """What `--data` names. MIDI files are read in steps of this length; JSON has its own."""
    specs = [data] if isinstance(data, str | Path) else list(data)
    parts: dict[str, tuple[Piece, ...]] = {}
    files: list[str] = []
    for spec in specs:
        for file, own in _named(spec, recipe.text.longest_line, step):
            files.append(str(file))
            for name, pieces in own.items():
                parts[name] = (*parts.get(name, ()), *pieces)
    if not any(parts.values()):
        raise DataError(f"{', '.join(map(str, specs))}: no pieces of music, expected {EXPECTED}.")
    return Pieces(", ".join(map(str, specs)), tuple(dict.fromkeys(files)), parts)


def _named(spec: str | Path, longest: int, step: str) -> Iterator[tuple[Path, dict[str, tuple[Piece, ...]]]]:
    path = Path(spec).expanduser()
    if path.is_dir():
        for file in _in_folder(path):
            yield file, _read(file, longest, step)
    elif path.is_file():
        yield path, _read(path, longest, step)
    elif glob.has_magic(str(path)):
        for each in sorted(glob.glob(str(path), recursive=True)):
            yield from _named(each, longest, step)
    else:
        yield _part(spec, longest, step)


def _part(spec: str | Path, longest: int, step: str) -> tuple[Path, dict[str, tuple[Piece, ...]]]:
    """`chorales.json:test`, `chorales.json:test#3`: a part, or one of its pieces, from 0."""
    whole, mark, number = str(spec).rpartition("#")
    given = whole if mark and number.isdecimal() else str(spec)
    file, _, part = given.rpartition(":") if not Path(given).expanduser().is_file() else (given, "", "")
    path = Path(file).expanduser()
    if not path.is_file():
        raise DataError(f"{spec}: no such file or folder, expected {EXPECTED}.")
    parts = _read(path, longest, step)
    if part and part not in parts:
        raise DataError(f"{path}: no part {part!r}, expected for example {path}:{next(iter(parts))}. It has "
                        f"{', '.join(map(repr, parts))}.")
    chosen = {part: parts[part]} if part else parts
    if given == str(spec):
        return path, chosen
    pieces = Pieces(given, (str(path),), chosen).pieces
    if int(number) >= len(pieces):
        raise DataError(f"{spec}: no piece {int(number):,}, expected 0 to {len(pieces) - 1:,}.")
    return path, {part: (pieces[int(number)],)}


def _read(path: Path, longest: int, step: str) -> dict[str, tuple[Piece, ...]]:
    if path.suffix.lower() in ENDINGS:
        return {"": (read_midi(path, step),)}
    if is_json(path):
        return read_pieces(path, longest)
    raise DataError(f"{path}: not music by its name, expected {EXPECTED}.")


def _in_folder(folder: Path) -> list[Path]:
    """The music of a folder and of those below it; a line says what else is there."""
    every = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    found = [path for path in every if path.suffix.lower() in ENDINGS or is_json(path)]
    others = [str(path.relative_to(folder)) for path in every if path not in found]
    if found and others:
        log.warning(f"{folder}: {len(others):,} of {len(every):,} files left out, which are no music by their names: "
                    f"{named(others, 3)}.")
    return found
