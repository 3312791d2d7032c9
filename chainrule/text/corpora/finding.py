"""The texts of a folder or of a pattern: what is not text is left out, and a line says which."""

from __future__ import annotations

import glob
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from chainrule.errors import DataError
from chainrule.text.corpora.fasta import ENDINGS as FASTA
from chainrule.text.corpora.fasta import begins_as_fasta
from chainrule.text.corpora.formats import FORMATS, FileSource, Source, format_of
from chainrule.text.corpora.looks import is_text

log = logging.getLogger("chainrule")


def in_folder(folder: Path, form: str) -> list[Source]:
    """The texts of a folder: its files of known endings or, where text.format says how to read them, all files."""
    runs = {path.parent for path in folder.rglob("MANIFEST.json")}  # models are no text, though they hold .jsonl
    found = sorted(path for path in folder.rglob("*") if path.is_file() and runs.isdisjoint(path.parents))
    shown = [path for path in found if not _hidden(path, folder)]
    named_so = [path for path in shown if form != "auto" or format_of(path)]
    texts, others = _texts(named_so, form)
    others = sorted([*others, *set(shown).difference(named_so)])
    if not texts:
        raise DataError(f"{folder}: no text in this folder has a known ending ({', '.join(FORMATS)}, packed or not)."
                        + (f" Others: {named(_below(folder, others), 3)}. Name them by a pattern, such as "
                           f"'{folder}/**/*{others[0].suffix}'." if others else ""))
    hidden = len(found) - len(shown)
    if others:
        log.warning(f"{folder}: {len(others):,} of {len(shown):,} files left out, which are not text or have another "
                    f"ending: {named(_below(folder, others), 3)}" + (f"; {hidden:,} hidden." if hidden else "."))
    return texts


def matching(pattern: Path, form: str) -> list[Source]:
    found = sorted(Path(name) for name in glob.glob(str(pattern), recursive=True) if Path(name).is_file())
    if not found:
        raise DataError(f"{pattern}: no file matches this pattern.")
    texts, others = _texts(found, form)
    if not texts:
        raise DataError(f"{pattern}: none of the {len(found):,} files that match this pattern is text: "
                        f"{named(map(str, others), 3)}.")
    if others:
        log.warning(f"{pattern}: {len(others):,} of {len(found):,} files left out, which are not text: "
                    f"{named(map(str, others), 3)}.")
    return texts


def _texts(paths: Sequence[Path], form: str) -> tuple[list[Source], list[Path]]:
    """The files that are text, and those that are not."""
    texts: list[Source] = []
    others = []
    for source in (file_source(path, form) for path in paths):
        if is_text(source):
            texts.append(source)
        else:
            others.append(source.path)
    return texts, others


def file_source(path: Path, form: str = "auto") -> FileSource:
    """A file, read as `form` or by its ending; a file of another ending is plain text.

    One that is named as FASTA and does not begin as such is plain text too.
    """
    found = format_of(path) or ".txt" if form == "auto" else f".{form}"
    if form == "auto" and found in FASTA and not begins_as_fasta(path):
        found = ".txt"
    return FileSource(path, found)


def named(names: Iterable[str], most: int) -> str:
    """`a, b, c and 4 more`."""
    known = list(names)
    return ", ".join(known[:most]) + (f" and {len(known) - most:,} more" if len(known) > most else "")


def _below(folder: Path, paths: Iterable[Path]) -> list[str]:
    return [str(path.relative_to(folder)) for path in paths]


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)
