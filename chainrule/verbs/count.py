"""`chainrule.count`: the n-grams of one part of a text, counted anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.counting.shards import keeping_all, part_numbers, save_counts
from chainrule.errors import UsageError
from chainrule.families.ngram import counted
from chainrule.jobs import existing_parent
from chainrule.protocols import Tokenizer
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import build
from chainrule.runs import RECIPE, REPORT, TOKENIZER
from chainrule.storage import check_target, write_run
from chainrule.storage.json_text import json_text
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.split import part as part_of
from chainrule.text.tokenizer import load_tokenizer
from chainrule.text.units import unit_of


def count(data: str, out: Path, *, part: str = "1/1", recipe: str = "ngram", overrides: Sequence[str] = (),
          tokenizer: Path | None = None, force: bool = False) -> dict[str, Any]:
    """Counts part i of n of a text into a folder of counts; returns its report."""
    check_target(out, replace=force)
    resolved = load_recipe(recipe, overrides)
    if resolved.family != "ngram":
        raise UsageError(f"{recipe} is a {resolved.family} recipe; only ngram recipes are counted.")
    corpus = open_corpus(data, resolved.text)
    if tokenizer is not None:
        known: Tokenizer = load_tokenizer(tokenizer)
        selected = part_of(corpus, *part_numbers(part), unit_of(resolved.text, keeps_space=known.keeps_space))
        encoded = encode(selected, known, resolved.text)
    else:
        trainer = keeping_all(build("text/tokenizers", resolved.tokenizer))
        unit = unit_of(resolved.text, keeps_space=trainer.keeps_space)
        known, encoded = fit_and_encode(part_of(corpus, *part_numbers(part), unit), trainer, resolved.text)
    counts, _ = counted(encoded, known, resolved.model, existing_parent(out))
    report = {"part": part, "text": corpus.fingerprint(), "tokens": len(encoded.ids), "units": encoded.units,
              "bytes": int(encoded.bytes.sum()), "ngrams": [len(level) for level in counts.levels]}

    def fill(folder: Path) -> None:
        save_counts(folder, counts)
        known.save(folder / TOKENIZER)
        (folder / RECIPE).write_text(resolved.to_yaml(), encoding="utf-8")
        (folder / REPORT).write_text(json_text(report, indent=1) + "\n", encoding="utf-8")

    write_run(out, fill, replace=force)
    return report
