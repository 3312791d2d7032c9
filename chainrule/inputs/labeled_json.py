"""Labeled texts in one JSON value: `{split: [[text, label], …]}`, as intent data sets come, or one such list."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.inputs.json_parts import json_parts
from chainrule.text.corpora.formats import FileSource
from chainrule.text.corpora.opening import SourceCorpus
from chainrule.text.corpora.packing import is_json

TRAIN, VALID = "train", ("val", "valid", "validation", "dev")
SHAPE = '{"train": [["a text", "its label"], …], …}'


def with_parts(corpus: Any, valid: Any) -> tuple[Any, Any]:
    """What to train and to validate on: of a JSON file with splits, those of such names, unless others are named."""
    sources = corpus.sources if isinstance(corpus, SourceCorpus) else ()
    if len(sources) != 1 or not isinstance(sources[0], FileSource) or sources[0].part or not is_json(sources[0].path):
        return corpus, valid
    splits = _splits(sources[0].path, corpus.options.longest_line)
    named = {name: SourceCorpus((replace(sources[0], part=name),), corpus.options) for name in splits if name}
    usual = next((named[name] for name in VALID if name in named), None)
    return named.get(TRAIN, corpus), usual if valid is None and TRAIN in named else valid


def json_rows(source: FileSource, label: str, text: str, longest: int) -> Iterator[tuple[int, Any, Any]]:
    """Number from 1, label and text of each entry: a pair [text, label], or an object with these fields."""
    splits = _splits(source.path, longest)
    name = source.part or ("" if len(splits) > 1 else next(iter(splits)))
    if name not in splits:
        said = f"no split {source.part!r}" if source.part else "several splits, and none is named"
        raise DataError(f"{source.path}: {said}, expected for example {source.path}:{next(iter(splits))}. It has "
                        f"{', '.join(splits)}.")
    for number, entry in enumerate(splits[name], start=1):
        match entry:
            case [written, own, *_]:
                yield number, own, written
            case [written]:
                yield number, None, written
            case dict() if text in entry:
                yield number, entry.get(label), entry[text]
            case _:
                raise DataError(f"{source.name}: line {number}: {json.dumps(entry)[:40]}, expected [text, label] or an "
                                f"object with the fields {text!r} and {label!r}.")


def split_names(path: Path, longest: int) -> list[str]:
    """The splits of a JSON file; one without a name where it is a list."""
    return list(_splits(path, longest))


def _splits(path: Path, longest: int) -> dict[str, list[Any]]:
    return json_parts(path, longest, holds="labeled texts", expected=f"{SHAPE}, or one object a line in a .jsonl file",
                      instead="Try JSON lines (.jsonl)")
