"""Tagged sentences: the words of a CoNLL-U treebank, or of columns of words and tags, with a tag each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chainrule.errors import DataError, OptionError
from chainrule.text.corpora.conllu import check_columns, sentences
from chainrule.text.corpora.formats import FileSource
from chainrule.text.options import TextOptions
from chainrule.text.split import Selection

SIZE = 1 << 20  # bytes read at a time
AUTO = "auto"  # UPOS of a treebank, the last column of other files
TREEBANK = {"upos": 3, "xpos": 4, "feats": 5}  # columns of CoNLL-U, from 0
NOTHING = "_"  # what CoNLL-U writes where a column says nothing
OTHERS = (".csv", ".jsonl", ".ndjson", ".parquet")
MARK = b"-DOCSTART-"
PAIR = 2  # columns at least: a word and its tag


@dataclass(frozen=True, slots=True)
class Tagged:
    """Words with a tag each, none where tags are not asked for, and where the first of them stands."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    source: str
    line: int


def tagged(corpus: Any, column: str, *, need_tags: bool = True) -> Iterator[Tagged]:
    """The sentences of a corpus; where a part was set aside, those of that part, by their number."""
    if isinstance(corpus, Selection):
        rule = corpus.rule
        return (each for number, each in enumerate(tagged(corpus.base, column)) if rule.takes(number))
    return (each for source in corpus.sources for each in _of_source(source, column, corpus.options, need_tags))


def checked_column(column: str | int) -> str:
    """How a recipe names the column of the tags; a number is one from 1."""
    name = str(column).lower()
    if name not in (AUTO, *TREEBANK) and not (name.isdecimal() and int(name) > 0):
        raise OptionError("task.column", column, f"{', '.join([AUTO, *TREEBANK])}, or the number of a column from 1")
    return name


def _of_source(source: Any, column: str, options: TextOptions, need_tags: bool) -> Iterator[Tagged]:
    if not isinstance(source, FileSource):
        raise DataError(f"{source.name}: a built-in corpus has no tags, expected a file.")
    if source.format in OTHERS:
        raise DataError(f"{source.path}: tags are not read from {source.format} files, expected CoNLL-U (.conllu), or "
                        "a word and its tag a line and an empty line after each sentence.")
    if source.format == ".conllu":
        return _treebank(source.path, column, options, need_tags)
    return _in_columns(source.path, column, options, need_tags)


def _treebank(path: Path, column: str, options: TextOptions, need_tags: bool) -> Iterator[Tagged]:
    """Words as syntax counts them: a range (3-4) and an empty node (8.1) are left out."""
    name = "upos" if column == AUTO else column
    place = TREEBANK[name] if name in TREEBANK else int(name) - 1
    for number, lines in sentences(path, options, SIZE):
        words, tags, first = list[str](), list[str](), 0
        for line, cells in token_lines(lines, path, number):
            if place >= len(cells):
                raise DataError(f"{path}: line {line}: {len(cells)} columns, expected at least task.column = {name}.")
            word, tag = cells[1].decode(), cells[place].decode()
            if need_tags and tag in ("", NOTHING) and name != "feats":
                others = " or ".join(f"task.column={each}" for each in TREEBANK if each != name)
                raise DataError(f"{path}: line {line}: the word {word!r} has no tag in the column {name.upper()}. Try "
                                f"{others}.")
            words.append(word)
            tags.append(tag)
            first = first or line
        if words:
            yield Tagged(tuple(words), tuple(tags) if need_tags else (), str(path), first)


def token_lines(lines: Sequence[bytes], path: Path, number: int) -> Iterator[tuple[int, list[bytes]]]:
    """The lines of words of a CoNLL-U sentence that begins at line `number`, each with its own number."""
    for line, each in enumerate(lines, start=number):
        if not each.startswith(b"#"):
            cells = check_columns(each, path, line)
            if cells[0].isdigit():
                yield line, cells


def _in_columns(path: Path, column: str, options: TextOptions, need_tags: bool) -> Iterator[Tagged]:
    """A word in the first column; the first word's line says how many columns the file has."""
    if column in TREEBANK:
        raise DataError(f"{path}: task.column = {column} is a column of CoNLL-U, which this file is not by its name. "
                        "Add text.format=conllu if it is, or give the column's number.")
    width = 0
    for number, lines in sentences(path, options, SIZE):
        words, tags, first = list[str](), list[str](), 0
        for line, each in enumerate(lines, start=number):
            cells = [cell.strip() for cell in each.split(b"\t")] if b"\t" in each else each.split()
            if each.startswith(MARK) or (not words and _is_comment(each, cells, width or PAIR)):
                continue
            width = width or _first_width(path, line, cells, need_tags)
            if len(cells) != width:
                raise DataError(f"{path}: line {line}: {len(cells)} column{'s' * (len(cells) > 1)}, expected {width} "
                                f"as in the lines before{': a word without a tag?' if len(cells) == 1 else '.'}")
            place = width - 1 if column == AUTO else int(column) - 1
            if place >= width and need_tags:
                raise DataError(f"{path}: line {line}: {width} columns, expected at least task.column = {column}.")
            if not cells[0] or (need_tags and not cells[place]):
                missing = "tag" if cells[0] else "word"
                raise DataError(f"{path}: line {line}: no {missing}, expected a word and its tag.")
            words.append(cells[0].decode())
            tags += [cells[place].decode()] if need_tags else []
            first = first or line
        if words:
            yield Tagged(tuple(words), tuple(tags), str(path), first)


def _is_comment(line: bytes, cells: Sequence[bytes], width: int) -> bool:
    """A line before the first word of a sentence that begins with # and is no word with its tag: `# O` is one."""
    return line.startswith(b"#") and b"\t" not in line and len(cells) != width


def _first_width(path: Path, line: int, cells: Sequence[bytes], need_tags: bool) -> int:
    if need_tags and len(cells) < PAIR:
        raise DataError(f"{path}: line {line}: 1 column, expected a word and its tag, with a tab or a space between.")
    return len(cells)
