"""word2vec's text, which fastText's .vec files are too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.formats._word_vectors import exported, facts, import_table
from chainrule.recipe.registry import part
from chainrule.runs import LoadedRun
from chainrule.vectors.files.read_text import looks_like, read_text
from chainrule.vectors.files.table import check_unspaced
from chainrule.vectors.files.write_text import write_text


@part
class Word2Vec:
    """Word vectors as text after a line `words numbers`: word2vec, gensim, fastText's .vec; .gz is compressed."""

    @staticmethod
    def recognizes(path: Path) -> bool:
        """By its first line, and numbers after the word in the second."""
        return looks_like(path) == "header"

    def export(self, run: LoadedRun, path: Path) -> dict[str, Any]:
        vectors = exported(run, "word2vec")
        check_unspaced(path, vectors.words, "word2vec")
        write_text(path, vectors.words, vectors.table, header=True)
        return facts(vectors)

    def import_run(self, path: Path, out: Path, *, replace: bool) -> dict[str, Any]:
        return import_table(path, out, read_text(path, header=True), replace=replace)
