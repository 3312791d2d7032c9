"""Counts on disk: the shards of a corpus, each counted anywhere, and how they become one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.counting import merge as merging
from chainrule.counting.counts import Counts, Level
from chainrule.counting.index_check import check_counts
from chainrule.counting.scratch import Scratch
from chainrule.errors import OptionError, StorageError, UsageError
from chainrule.recipe.recipe import Recipe, load_recipe
from chainrule.runs import COUNTS, RECIPE, TOKENIZER
from chainrule.storage import open_run
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.text.tokenizer import load_tokenizer

Shard = tuple[Counts, Any, Recipe]  # counts, the tokenizer of their ids, the recipe they are meant for


def save_counts(folder: Path, counts: Counts) -> None:
    """Writes the counts of every order."""
    named = {}
    for n, level in enumerate(counts.levels, start=1):
        named[f"order{n}.words"], named[f"order{n}.counts"] = level.words, level.counts
        if level.starts is not None:
            named[f"order{n}.starts"] = level.starts
    save_tensors(folder / COUNTS, named)


def load_shard(path: str | Path) -> Shard:
    """Opens a folder that `chainrule count` made."""
    folder = open_run(path)
    if COUNTS not in folder.files:
        raise StorageError(f"{path}: holds a model, expected counts that `chainrule count` made.")
    tokenizer = load_tokenizer(folder.file(TOKENIZER))
    return open_counts(folder.file(COUNTS), tokenizer), tokenizer, load_recipe(folder.file(RECIPE))


def open_counts(path: Path, tokenizer: Any) -> Counts:
    """The counts of a file that `save_counts` wrote; their arrays stay on the disk."""
    named = open_tensors(path)
    check_counts(path, named, tokenizer.vocabulary_size)
    order = max(int(key.split(".")[0].removeprefix("order")) for key in named)
    levels = [Level(named[f"order{n}.words"], named[f"order{n}.counts"], named.get(f"order{n}.starts"))
              for n in range(1, order + 1)]
    return Counts(levels, tokenizer.start)


def keeping_all(trainer: Any) -> Any:
    """The same tokenizer without a limit on its words, if it has one: which are rare is known after merging."""
    return replace(trainer, min_count=1, size=None) if hasattr(trainer, "join") else trainer


def merged(parts: Sequence[tuple[Counts, Any]], trainer: Any, scratch: Scratch) -> tuple[Counts, Any]:
    """Counts and tokenizers of all parts under one vocabulary: if each part has its own, the words are renumbered."""
    tokenizers = [tokenizer for _, tokenizer in parts]
    alike = len({tokenizer.digest() for tokenizer in tokenizers}) == 1
    if hasattr(trainer, "join") and not (alike and trainer.min_count == 1 and trainer.size is None):
        joined, mappings = trainer.join(tokenizers, [np.asarray(counts.levels[0].counts) for counts, _ in parts])
        again = [merging.stored(merging.renumber(counts, mapping, joined.vocabulary_size, joined.start), scratch)
                 for (counts, _), mapping in zip(parts, mappings, strict=True)]
        return merging.merge(again, scratch), joined
    if not alike:
        raise UsageError(f"the parts have different {tokenizers[0].name} tokenizers, which cannot be joined. "
                         "Count every part with one and the same: chainrule count ... --tokenizer tokenizer.json")
    return merging.merge([counts for counts, _ in parts], scratch), tokenizers[0]


def part_numbers(part: str) -> tuple[int, int]:
    """`2/4` as 2 and 4."""
    found = re.fullmatch(r"(\d+)/(\d+)", part)
    if not found:
        raise OptionError("--part", part, "i/n such as 1/4")
    return int(found[1]), int(found[2])
