"""`chainrule.merge`: one model from the counts of several parts, as if they had been counted in one pass."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.counting.shards import load_shard, merged, part_numbers
from chainrule.errors import OptionError, StorageError, UsageError
from chainrule.families.ngram import from_counts, scratch_for
from chainrule.jobs import Job, existing_parent
from chainrule.recipe.recipe import make_recipe
from chainrule.recipe.registry import build
from chainrule.runs import REPORT
from chainrule.storage import check_target
from chainrule.storage.json_files import read_object
from chainrule.storage.manifest import HINT
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import encode
from chainrule.verbs.train import finish

log = logging.getLogger("chainrule")


def merge(folders: Sequence[str | Path], out: str | Path, *, overrides: Sequence[str] = (),
          valid: Any = None, force: bool = False) -> dict[str, Any]:
    """The model of all parts together, saved as a run; returns its report."""
    check_target(out, replace=force)
    if not folders:
        raise UsageError("merge needs the folders that `chainrule count` made.")
    parts = [load_shard(folder) for folder in folders]
    for folder, (counts, _, recipe) in zip(folders, parts, strict=True):
        first_counts, _, first = parts[0]
        if (counts.order, recipe.text, recipe.tokenizer) != (first_counts.order, first.text, first.tokenizer):
            raise UsageError(f"{folder} was counted with another order, text or tokenizer option than {folders[0]}.")
    _check_parts(folders)
    recipe = make_recipe(parts[0][2].model_dump(mode="json"), overrides)
    if recipe.model.order != parts[0][0].order:
        raise OptionError("model.order", recipe.model.order, f"the order of the counts, {parts[0][0].order}",
                          "Count again, with the order you want.")
    corpus = None if valid is None else open_corpus(valid, recipe.text)
    job = Job(recipe, None, corpus, existing_parent(Path(out)))
    tokens = sum(counts.tokens for counts, _, _ in parts)
    scratch = scratch_for(tokens, recipe.model, job.folder, how="merging their counts")
    with job.timed("merging"):
        trainer = build("text/tokenizers", recipe.tokenizer)
        counts, tokenizer = merged([(counts, own) for counts, own, _ in parts], trainer, scratch)
    held_out = None if corpus is None else encode(corpus, tokenizer, recipe.text).ids
    trained = from_counts(job, counts, tokenizer, scratch, held_out)
    return finish(job, trained, out, force=force)


def _check_parts(folders: Sequence[str | Path]) -> None:
    """No part may be counted twice; a part that is missing is named."""
    seen: dict[tuple[str, tuple[int, int]], str | Path] = {}
    for folder in folders:
        report = read_object(Path(folder) / REPORT)
        if not isinstance(report.get("text"), str) or not isinstance(report.get("part"), str):
            raise StorageError(f"{Path(folder) / REPORT}: does not say which part of which text was counted. {HINT}")
        own = report["text"], part_numbers(report["part"])
        if own in seen:
            raise UsageError(f"{seen[own]} and {folder} hold the same part {report['part']} of the same text.")
        seen[own] = folder
    for text in {text for text, _ in seen}:
        here = {part for other, part in seen if other == text}
        if len({n for _, n in here}) > 1:
            raise UsageError("the folders hold parts of different splits of one text, which overlap: "
                             f"{', '.join(f'{i}/{n}' for i, n in sorted(here))}. Count all parts with one n.")
        n = next(iter(here))[1]
        missing = [f"{i}/{n}" for i in range(1, n + 1) if (i, n) not in here]
        if missing:
            log.info(f"the text is incomplete: part {', '.join(missing)} of it is missing.")
