"""Counts on disk: the shards of a corpus, each counted anywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from chainrule.counting.counts import Counts, Level
from chainrule.counting.index_check import check_counts
from chainrule.errors import OptionError, StorageError
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
    named = open_tensors(folder.file(COUNTS))
    tokenizer = load_tokenizer(folder.file(TOKENIZER))
    check_counts(folder.file(COUNTS), named, tokenizer.vocabulary_size)
    order = max(int(key.split(".")[0].removeprefix("order")) for key in named)
    levels = [Level(named[f"order{n}.words"], named[f"order{n}.counts"], named.get(f"order{n}.starts"))
              for n in range(1, order + 1)]
    return Counts(levels, tokenizer.start), tokenizer, load_recipe(folder.file(RECIPE))


def part_numbers(part: str) -> tuple[int, int]:
    """`2/4` as 2 and 4."""
    found = re.fullmatch(r"(\d+)/(\d+)", part)
    if not found:
        raise OptionError("--part", part, "i/n such as 1/4")
    return int(found[1]), int(found[2])
