"""Words with tags as text: columns, CoNLL-U, or a tag behind each word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chainrule.errors import OptionError
from chainrule.inputs.tagged import AUTO, NOTHING, SIZE, TREEBANK, token_lines
from chainrule.text.corpora.conllu import sentences


@dataclass(frozen=True)
class Untagged:
    """Words to tag; of a treebank with its lines, so that what stands beside the tags can be kept."""

    words: list[str]
    lines: Sequence[bytes] = ()
    text: str = ""  # as it was written, before it was split


def treebank_sentences(path: Path, options: Any) -> Iterator[Untagged]:
    """The sentences of a CoNLL-U file, whatever tags they have."""
    for number, lines in sentences(path, options, SIZE):
        yield Untagged([cells[1].decode() for _, cells in token_lines(lines, path, number)], lines)


def columns(found: Untagged, tags: Sequence[str]) -> str:
    """`word<TAB>tag` a line, and an empty line after the sentence: a file that a tagger can be trained on."""
    return "".join(f"{word}\t{tag}\n" for word, tag in zip(found.words, tags, strict=True)) + "\n"


def inline(found: Untagged, tags: Sequence[str]) -> str:
    """`word/TAG word/TAG`, a sentence a line."""
    return " ".join(f"{word}/{tag}" for word, tag in zip(found.words, tags, strict=True)) + "\n"


def conllu(found: Untagged, tags: Sequence[str], column: str) -> str:
    """CoNLL-U: lines that were read keep all but their tags, others have only words and tags."""
    name = "upos" if column == AUTO else column
    place = TREEBANK.get(name, int(name) - 1 if name.isdecimal() else -1)
    if not 2 <= place < 10:
        raise OptionError("task.column", column, "a column of CoNLL-U")
    if not found.lines:
        text = found.text.strip() or " ".join(found.words)
        return "".join([f"# text = {text}\n", *(_line(n, word, tag, place) for n, (word, tag) in enumerate(
            zip(found.words, tags, strict=True), start=1))]) + "\n"
    given, lines = iter(tags), []
    for each in found.lines:
        cells = each.decode().split("\t")
        if not each.startswith(b"#") and cells[0].isdigit():
            cells[place] = next(given)
        lines.append("\t".join(cells) + "\n")
    return "".join(lines) + "\n"


def _line(number: int, word: str, tag: str, place: int) -> str:
    cells = [str(number), word, *[NOTHING] * 8]
    cells[place] = tag
    return "\t".join(cells) + "\n"
