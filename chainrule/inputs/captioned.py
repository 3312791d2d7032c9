"""Images with captions: a table with a column of images and one of captions, several rows for an image or one."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.inputs.files import FileRows, Listed
from chainrule.inputs.image_arrays import image_at
from chainrule.inputs.image_tars import MEMBER, is_tar, place_of
from chainrule.inputs.pairs import Pair, table_cells
from chainrule.text.corpora.finding import file_source
from chainrule.text.corpora.formats import format_of
from chainrule.text.options import TextOptions
from chainrule.text.split import Rule

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")
EXPECTED = "a table (.csv, .tsv, .jsonl) with a column of images and one of captions"


@dataclass(frozen=True)
class Columns:
    """Of a table: images, captions, and which split a row belongs to; `folder` is where the images lie.

    The folder, or a .tar file, is relative to the table's own, which it is where none is given.
    """

    image: str = "image"
    caption: str = "caption"
    split: str | None = "split"
    folder: str | None = None


@dataclass(frozen=True)
class Captioned(FileRows):
    """Pairs of an image and a caption; an image with several captions has several, one after the other or not."""

    rows: tuple[Pair, ...]

    @cached_property
    def images(self) -> dict[bytes, int]:
        """Each image once, with its number."""
        return {source: number for number, source in enumerate(dict.fromkeys(each.source for each in self.rows))}

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.rows)

    def taken(self, rule: Rule) -> Captioned:
        """The images that a rule takes by their number, each with all its captions."""
        taken = {source for source, number in self.images.items() if rule.takes(number)}
        return replace(self, name=f"{self.name} ({rule})", rows=tuple(each for each in self.rows
                                                                      if each.source in taken))

    def said(self, row: Pair) -> str:
        return f"{Path(os.fsdecode(row.source)).name}\0{row.target!r}"


def open_captioned(data: Any, columns: Columns, options: TextOptions) -> Captioned:
    """The tables that `data` names; `captions.tsv:test` are the rows whose column `split` says test."""
    specs = [data] if isinstance(data, str | Path) else list(data)
    rows: list[Pair] = []
    sources: dict[Path, None] = {}
    for path, part in (found for spec in specs for found in _tables(str(spec))):
        own = list(_rows(path, part, columns, options))
        rows += own
        sources.update(dict.fromkeys([path, *(_file_of(os.fsdecode(each.source)) for each in own)]))
    if not rows:
        raise DataError(f"{', '.join(map(str, specs))}: no images with captions, expected {EXPECTED}.")
    return Captioned(", ".join(map(str, specs)), tuple(rows), tuple(sources))


def is_table(spec: str) -> bool:
    """Whether a name is that of a table, or of a split of one."""
    path = Path(spec).expanduser()
    if not path.exists() and ":" in spec:
        path = Path(spec.rpartition(":")[0]).expanduser()
    return path.is_file() and format_of(path) in TABLES


def _tables(spec: str) -> Iterator[tuple[Path, str]]:
    """Files, and the split that is asked for of each; "" where none is named."""
    path = Path(spec).expanduser()
    if path.is_dir():
        raise DataError(f"{spec}: a folder, expected {EXPECTED}.")
    if not path.exists() and glob.has_magic(spec):
        for each in sorted(glob.glob(str(path), recursive=True)):
            yield from _tables(each)
        return
    file, _, part = str(path).rpartition(":")
    if not path.exists() and file and part and Path(file).is_file():
        path = Path(file)
    else:
        part = ""
    if not path.is_file():
        raise DataError(f"{spec}: no such file, expected {EXPECTED}.")
    if format_of(path) not in TABLES:
        raise DataError(f"{path}: no table by its name, expected {EXPECTED}.")
    yield path, part


def _rows(path: Path, part: str, columns: Columns, options: TextOptions) -> Iterator[Pair]:
    source, split = file_source(path, options.format), columns.split
    wanted = (columns.image, columns.caption)
    seen: dict[str, None] = {}
    for line, cells in table_cells(source, wanted, options, also=split):
        own = cells[2]
        if own is not None:
            seen[own] = None
        if part and own != part:
            continue
        if not part and len(seen) > 1:
            raise DataError(f"{path}: the column {split!r} has several splits, {', '.join(seen)} …, and none is named, "
                            f"expected for example {path}:{next(iter(seen))}. task.split=null reads all rows.")
        yield Pair(_image(str(cells[0]), path, line, columns), _one_line(str(cells[1])), str(path), line, True)
    if part and part not in seen:
        has = f"It has {', '.join(seen)}." if seen else f"It has no column {split!r}: set task.split."
        raise DataError(f"{path}: no row of the split {part!r}. {has}")


def _image(name: str, table: Path, line: int, columns: Columns) -> Listed:
    """The image that a row names, which must be there."""
    where = f"{table}: line {line}: "
    if not name.strip():
        raise DataError(f"{where}no image in the column {columns.image!r}, expected a path.")
    folder = table.parent if columns.folder is None else table.parent / Path(columns.folder).expanduser()
    place = f"{folder}{MEMBER}{name.strip()}" if is_tar(folder) else str(folder / name.strip())
    found = Listed(os.fsencode(place))
    found.where = where
    try:
        _check(place, columns)
    except DataError as error:
        raise DataError(f"{where}{error}") from None
    return found


def _check(place: str, columns: Columns) -> None:
    file = _file_of(place)
    if not file.is_file():
        tried = "the table's folder; task.folder names another" if columns.folder is None else \
            f"task.folder = {columns.folder}"
        raise DataError(f"{file}: no such file. Paths are relative to {tried}.")
    if is_tar(file):
        place_of(file, place.partition(f".tar{MEMBER}")[2])
    elif str(file) != place:
        image_at(place)


def _file_of(place: str) -> Path:
    """The file that has an image: itself, a .tar file, or an array of many."""
    before, inside, _ = place.partition(f".tar{MEMBER}")
    if inside:
        return Path(f"{before}.tar")
    name, _, number = place.rpartition(MEMBER)
    return Path(name) if number.isdecimal() and name and not Path(place).exists() else Path(place)


def _one_line(text: str) -> bytes:
    return " ".join(text.split()).encode(errors="replace")


def images_in(files: Sequence[str], task: Any, recipe: Any) -> list[bytes]:
    """The images that a command names: files, folders of them, arrays, or tables with a column of them."""
    from chainrule.inputs.files import open_files

    found: list[bytes] = []
    for file in files:
        if is_table(file):
            columns = replace(task.columns_of_table, caption=task.columns_of_table.image)  # captions are not needed
            whole = replace(columns, split=None) if Path(file).expanduser().exists() else columns
            found += open_captioned(file, whole, recipe.text).images
        else:
            found += [each.text for each in open_files(file, recipe, task.modality, need_labels=False).rows]
    return found
