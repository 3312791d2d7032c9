"""ARPA: n-gram models as text."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from chainrule.counting.arpa.read import read_arpa
from chainrule.counting.arpa.write import write_arpa
from chainrule.counting.sound import LARGEST_SUM, unsound
from chainrule.errors import DataError, UsageError
from chainrule.recipe.registry import part
from chainrule.runs import TOKENIZER, LoadedRun, save_run
from chainrule.storage.files import opened

FAMILY = "ngram"
log = logging.getLogger("chainrule")


@part
class Arpa:
    """n-gram models as text, which KenLM, SRILM, IRSTLM and others read; compressed where the name ends in .gz."""

    @staticmethod
    def recognizes(path: Path) -> bool:
        """By its name (x.arpa, x.lm, x.arpa.gz), or by its first lines."""
        if {".arpa", ".lm"} & set(path.suffixes):
            return True
        try:
            with opened(path) as stream:
                return b"\\data\\" in stream.read(4096).split()
        except DataError:
            return False

    def export(self, run: LoadedRun, path: Path) -> dict[str, Any]:
        if run.recipe.family != FAMILY:
            raise UsageError(f"{run.path}: of the family {run.recipe.family}, expected {FAMILY}: ARPA holds no other.")
        if not hasattr(run.model, "table"):
            raise UsageError(f"{run.path}: a mixture of n-gram models, expected one: ARPA holds no other. Its members "
                             f"are runs of their own: {run.path / 'members' / '0'} …")
        if run.tokenizer.keeps_space:
            log.info(f"ARPA holds no tokenizer: what reads this file must be given {run.tokenizer.name} tokens, cut as "
                     f"{run.path / TOKENIZER} says.")
        return {"ngrams": write_arpa(run.model.table, run.tokenizer.token, path)}

    def import_run(self, path: Path, out: Path, *, replace: bool) -> dict[str, Any]:
        from chainrule.families.ngram import WEIGHTS
        from chainrule.recipe.recipe import make_recipe
        from chainrule.storage.tensors import save_tensors
        from chainrule.text.tokenizers.words import WordTokenizer

        table, words = read_arpa(path)
        if problem := unsound(table, lambda word: words[word], least=0, most=LARGEST_SUM):
            raise DataError(f"{path}: {problem}. The file is damaged, or what wrote it went wrong: write it again.")
        recipe = make_recipe({"family": FAMILY, "tokenizer": "words", "model": {"order": table.order},
                              "description": f"Imported from {path.name}: estimated elsewhere, not by this recipe."})
        report = {"family": FAMILY, "imported": path.name, "vocabulary": len(words), "order": table.order,
                  "ngrams": [len(level) for level in table.levels]}
        save_run(out, lambda folder: save_tensors(folder / WEIGHTS, table.tensors()), recipe=recipe,
                 tokenizer=WordTokenizer([word.encode() for word in words]), report=report, replace=replace)
        return report
