"""GloVe's text: a word and its numbers a line, and no line before them."""

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
class GloVe:
    """Word vectors as text without a first line of sizes: GloVe's; .gz is compressed."""

    @staticmethod
    def recognizes(path: Path) -> bool:
        """By numbers after the word in its first lines."""
        return looks_like(path) == "plain"

    def export(self, run: LoadedRun, path: Path) -> dict[str, Any]:
        vectors = exported(run, "glove")
        check_unspaced(path, vectors.words, "glove")
        write_text(path, vectors.words, vectors.table, header=False)
        return facts(vectors)

    def import_run(self, path: Path, out: Path, *, replace: bool) -> dict[str, Any]:
        return import_table(path, out, read_text(path, header=False), replace=replace)
