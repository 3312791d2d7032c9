"""word2vec's binary: exact, and quicker to read than text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.formats._word_vectors import exported, facts, import_table
from chainrule.recipe.registry import part
from chainrule.runs import LoadedRun
from chainrule.vectors.files.read_text import looks_like
from chainrule.vectors.files.table import check_unspaced
from chainrule.vectors.files.word2vec_binary import read_binary, write_binary


@part
class Word2VecBinary:
    """Word vectors as float32 after each word: word2vec and gensim with binary=True; .gz is compressed."""

    @staticmethod
    def recognizes(path: Path) -> bool:
        """By its first line, and bytes that are no text after it."""
        return looks_like(path) == "binary"

    def export(self, run: LoadedRun, path: Path) -> dict[str, Any]:
        vectors = exported(run, "word2vec_binary")
        check_unspaced(path, vectors.words, "word2vec_binary")
        write_binary(path, vectors.words, vectors.table)
        return facts(vectors)

    def import_run(self, path: Path, out: Path, *, replace: bool) -> dict[str, Any]:
        return import_table(path, out, read_binary(path), replace=replace)
