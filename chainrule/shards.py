"""Counts on disk: the shards of a corpus are counted anywhere, and merged into the model that one pass would give."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.counting.counts import Counts, Level
from chainrule.counting.merge import merge, renumber, stored
from chainrule.counting.scratch import Scratch
from chainrule.errors import OptionError, StorageError, UsageError
from chainrule.families.ngram import counted, from_counts, scratch_for
from chainrule.jobs import Job, existing_parent, finish
from chainrule.plain import plain_json
from chainrule.recipe import Recipe, load_recipe, make_recipe
from chainrule.registry import build
from chainrule.runs import COUNTS, RECIPE, REPORT, TOKENIZER
from chainrule.storage import check_target, open_run, write_run
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.split import part as part_of
from chainrule.text.tokenizer import load_tokenizer
from chainrule.text.units import unit_of

log = logging.getLogger("chainrule")
Part = tuple[Counts, Any, Recipe]  # counts, the tokenizer of their ids, the recipe they are meant for


def count_part(data: str, out: Path, *, part: str = "1/1", recipe: str = "ngram", overrides: Sequence[str] = (),
               tokenizer: Path | None = None, force: bool = False) -> dict[str, Any]:
    """Counts part i of n of a text into a folder of counts; returns its report."""
    check_target(out, replace=force)
    resolved = load_recipe(recipe, overrides)
    if resolved.family != "ngram":
        raise UsageError(f"{recipe} is a {resolved.family} recipe; only ngram recipes are counted.")
    corpus = open_corpus(data, resolved.text)
    if tokenizer is not None:
        known = load_tokenizer(tokenizer)
        selected = part_of(corpus, *_numbers(part), unit_of(resolved.text, keeps_space=known.keeps_space))
        encoded = encode(selected, known, resolved.text)
    else:
        trainer = build("text/tokenizers", _keeping_all(resolved.tokenizer))
        unit = unit_of(resolved.text, keeps_space=trainer.keeps_space)
        known, encoded = fit_and_encode(part_of(corpus, *_numbers(part), unit), trainer, resolved.text)
    counts, _ = counted(encoded, known, resolved.model, existing_parent(out))
    report = {"part": part, "text": corpus.fingerprint(), "tokens": len(encoded.ids), "units": encoded.units,
              "bytes": int(encoded.bytes.sum()), "ngrams": [len(level) for level in counts.levels]}

    def fill(folder: Path) -> None:
        _save(folder, counts)
        known.save(folder / TOKENIZER)
        (folder / RECIPE).write_text(resolved.to_yaml(), encoding="utf-8")
        (folder / REPORT).write_text(plain_json(report, indent=1) + "\n", encoding="utf-8")

    write_run(out, fill, replace=force)
    return report


def train_on_parts(folders: Sequence[str | Path], out: str | Path, *, overrides: Sequence[str] = (),
                   valid: Any = None, force: bool = False) -> dict[str, Any]:
    """The model of all parts together, saved as a run; returns its report."""
    check_target(out, replace=force)
    if not folders:
        raise UsageError("merge needs the folders that `chainrule count` made.")
    parts = [_load(folder) for folder in folders]
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
        counts, tokenizer = merged(parts, build("text/tokenizers", recipe.tokenizer), scratch)
    held_out = None if corpus is None else encode(corpus, tokenizer, recipe.text).ids
    trained = from_counts(job, counts, tokenizer, scratch, held_out)
    return finish(job, trained, out, force=force)


def _check_parts(folders: Sequence[str | Path]) -> None:
    """No part may be counted twice; a part that is missing is named."""
    seen: dict[tuple[str, tuple[int, int]], str | Path] = {}
    for folder in folders:
        report = json.loads((Path(folder) / REPORT).read_text(encoding="utf-8"))
        own = report["text"], _numbers(report["part"])
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
            log.info(f"the text is not whole: part {', '.join(missing)} of it is missing.")


def merged(parts: Sequence[Part], trainer: Any, scratch: Scratch) -> tuple[Counts, Any]:
    """All parts under one vocabulary: where each part has its own, the words are numbered anew."""
    tokenizers = [tokenizer for _, tokenizer, _ in parts]
    alike = len({tokenizer.digest() for tokenizer in tokenizers}) == 1
    if hasattr(trainer, "join") and not (alike and trainer.min_count == 1 and trainer.size is None):
        joined, mappings = trainer.join(tokenizers, [np.asarray(counts.levels[0].counts) for counts, _, _ in parts])
        again = [stored(renumber(counts, mapping, joined.vocabulary_size, joined.start), scratch)
                 for (counts, _, _), mapping in zip(parts, mappings, strict=True)]
        return merge(again, scratch), joined
    if not alike:
        raise UsageError(f"the parts have different {tokenizers[0].name} tokenizers, which cannot be joined. "
                         "Count every part with one and the same: chainrule count ... --tokenizer tokenizer.json")
    return merge([counts for counts, _, _ in parts], scratch), tokenizers[0]


def _numbers(part: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", part)
    if not found:
        raise OptionError("--part", part, "i/n such as 1/4")
    return int(found[1]), int(found[2])


def _keeping_all(tokenizer: dict[str, Any]) -> dict[str, Any]:
    """The same tokenizer without a limit on its words: which are rare is known when all parts are there."""
    return {key: value for key, value in tokenizer.items() if key not in ("min_count", "size")} \
        if tokenizer["name"] in ("words", "characters") else tokenizer


def _save(folder: Path, counts: Counts) -> None:
    named = {}
    for n, level in enumerate(counts.levels, start=1):
        named[f"order{n}.words"], named[f"order{n}.counts"] = level.words, level.counts
        if level.starts is not None:
            named[f"order{n}.starts"] = level.starts
    save_tensors(folder / COUNTS, named)


def _load(path: str | Path) -> Part:
    folder = open_run(path)
    if COUNTS not in folder.files:
        raise StorageError(f"{path}: holds a model, expected counts that `chainrule count` made.")
    named = open_tensors(folder.file(COUNTS))
    order = max(int(key.split(".")[0].removeprefix("order")) for key in named)
    levels = [Level(named[f"order{n}.words"], named[f"order{n}.counts"], named.get(f"order{n}.starts"))
              for n in range(1, order + 1)]
    tokenizer = load_tokenizer(folder.file(TOKENIZER))
    return Counts(levels, tokenizer.start), tokenizer, load_recipe(folder.file(RECIPE))
