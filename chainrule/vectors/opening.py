"""Word vectors by the name of a run or of a file, for whatever begins with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.protocols import WordVectors
from chainrule.vectors.store import Vectors

BINARY = ".bin"


def open_vectors(name: str | Path, asked_by: str) -> Any:
    """The vectors of a run, or of a file of text or of word2vec's binary; `asked_by` says who wants them."""
    from chainrule.runs import load
    from chainrule.vectors.files.read_text import looks_like, read_text
    from chainrule.vectors.files.word2vec_binary import read_binary

    path = Path(name).expanduser()
    if path.is_dir():
        return load(path).offering(WordVectors, asked_by)
    if not path.is_file():
        raise DataError(f"{asked_by} = {name}: no such run or file, expected word vectors.")
    if path.suffix == BINARY:
        found = read_binary(path)
        return Vectors(found.words, found.rows)
    kind = looks_like(path)
    if kind is None:
        raise DataError(f"{asked_by} = {name}: no file of word vectors, expected a word and its numbers a line. For "
                        "other files: chainrule import FILE --out RUN.")
    found = read_text(path, header=kind == "header")
    return Vectors(found.words, found.rows)
