"""Labeled files as a corpus: one folder a class, a table that names files, or one file that holds many inputs."""

from __future__ import annotations

import glob
import hashlib
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.inputs.class_folders import class_folders
from chainrule.inputs.labeled import Example, Layout, examples, layout_of
from chainrule.text.corpora.finding import file_source, named
from chainrule.text.corpora.formats import format_of
from chainrule.text.corpora.packing import readable

log = logging.getLogger("chainrule")
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")
ANY_FIELD = "text"  # where a recipe does not say which column has the files


class Listed(bytes):
    """The path of a file as a value of a modality; `where` says which row of a table names it, for messages."""

    where: str = ""


@dataclass(frozen=True)
class Archive:
    """A file that holds many inputs: an example each, whose values only the modality understands."""

    rows: Sequence[Example]
    sources: tuple[Path, ...]  # the file, and others that belong to it, such as the labels


@dataclass(frozen=True)
class FileRows:
    """Rows of data whose values are paths, as a corpus: known by the content of all files and by what the rows say."""

    name: str
    rows: tuple[Any, ...]
    sources: tuple[Path, ...]  # every file that is read, once

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(map(str, self.sources))

    @cached_property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self.sources)

    def fingerprint(self) -> str:
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        found = hashlib.sha256()
        for path in self.sources:
            with readable(path), path.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "sha256").digest())
        for each in self.rows:
            found.update(f"{self.said(each)}\n".encode(errors="replace"))
        return found.hexdigest()

    def said(self, row: Any) -> str:
        """What a row says, without the folder that its file lies in."""
        raise NotImplementedError


@dataclass(frozen=True)
class Files(FileRows):
    """Labeled examples whose values are paths."""

    rows: tuple[Example, ...]

    def said(self, row: Example) -> str:
        return f"{Path(os.fsdecode(row.text)).name} {row.labels}"


def open_files(data: Any, recipe: Any, modality: Any, *, need_labels: bool = True) -> Files:
    """What a recipe's data names, where a modality has files; without `need_labels` also files by themselves."""
    specs = [data] if isinstance(data, str | Path) else list(data)
    rows: list[Example] = []
    sources: dict[Path, None] = {}
    for archive in (one for spec in specs for one in _named(spec, recipe, modality, need_labels)):
        rows += archive.rows
        sources.update(dict.fromkeys(archive.sources))
    if not rows:
        raise DataError(f"{', '.join(map(str, specs))}: no {modality.plural}, expected {_expected(modality)}.")
    return Files(", ".join(map(str, specs)), tuple(rows), tuple(sources))


def _named(spec: str | Path, recipe: Any, modality: Any, need_labels: bool) -> Iterator[Archive]:
    path = Path(spec).expanduser()
    if not path.exists():
        if glob.has_magic(str(path)):
            for each in sorted(glob.glob(str(path), recursive=True)):
                yield from _named(each, recipe, modality, need_labels)
            return
        file, _, number = str(path).rpartition("#")
        if not number.isdecimal() or not Path(file).is_file() or need_labels:
            wanted = f", expected {_expected(modality)}" if need_labels else ""
            raise DataError(f"{spec}: no such file or folder{wanted}.")
        yield Archive([_alone(path)], (Path(file),))
    elif (folders := class_folders(path, modality.endings)) is not None:
        _name_others(path, len(folders.found), modality)
        yield Archive([_alone(file, label) for file, label in folders.found], tuple(file for file, _ in folders.found))
    elif path.is_dir() or path.suffix.lower() in modality.endings:
        yield _unlabeled(path, modality, need_labels)
    elif (archive := modality.archive(path, need_labels)) is not None:
        yield archive
    else:
        yield _in_table(path, recipe, modality, need_labels)


def _unlabeled(path: Path, modality: Any, need_labels: bool) -> Archive:
    """A file, or a folder without classes: good only where no label is asked for."""
    if need_labels:
        what = "a folder without a folder for each class" if path.is_dir() else f"one {modality.called} and no label"
        raise DataError(f"{path}: {what}, expected {_expected(modality)}.")
    found = [path] if path.is_file() else [each for each in sorted(path.rglob("*")) if each.is_file()
                                           and each.suffix.lower() in modality.endings]
    return Archive([_alone(each) for each in found], tuple(found))


def _name_others(folder: Path, found: int, modality: Any) -> None:
    """Says how many files of the classes have another ending, and so are not read."""
    every = [path for path in folder.glob("*/**/*") if path.is_file() and not path.name.startswith(".")]
    others = [path for path in every if path.suffix.lower() not in modality.endings]
    if others:
        names = named([str(path.relative_to(folder)) for path in others], 3)
        log.warning(f"{folder}: {len(others):,} of {len(others) + found:,} files left out, which have another ending "
                    f"than {' '.join(modality.endings)}: {names}.")


def _in_table(path: Path, recipe: Any, modality: Any, need_labels: bool) -> Archive:
    """The files that a column of a table names; a path is relative to the table's folder."""
    if format_of(path) not in TABLES:
        raise DataError(f"{path}: not {_one(modality.called)} by its name, expected {_expected(modality)}.")
    layout = layout_for(recipe, modality)
    rows, sources = [], [path]
    for each in examples([file_source(path, recipe.text.format)], layout, need_labels=need_labels):
        file = path.parent / os.fsdecode(each.text.strip())
        value = Listed(os.fsencode(file))
        value.where = f"{path}: line {each.line}: "
        if not file.is_file():
            raise DataError(f"{value.where}{file}: no such file. Paths are relative to the table's folder.")
        rows.append(replace(each, text=value))
        sources.append(file)
    return Archive(rows, tuple(sources))


def layout_for(recipe: Any, modality: Any) -> Layout:
    """Where a table has files and labels: the column of the files is named as the modality, unless text.field says."""
    found = layout_of(recipe)
    return replace(found, text=modality.called) if found.text == ANY_FIELD else found


def _alone(path: Path, label: str | None = None) -> Example:
    return Example(Listed(os.fsencode(path)), () if label is None else (label,), str(path), 1)


def _expected(modality: Any) -> str:
    kinds = " ".join(modality.endings)
    return (f"one folder a class with {modality.plural} ({kinds}), or a table (.csv, .tsv, .jsonl) with a column "
            f"{modality.called!r} of paths and a column of labels")


def _one(called: str) -> str:
    return f"{'an' if called[0] in 'aeiou' else 'a'} {called}"
