"""Whether files hold labeled texts, for `chainrule data check`: how many, which labels, and what to train on them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.errors import DataError
from chainrule.inputs.labeled import Layout, examples
from chainrule.inputs.labeled_json import split_names
from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.formats import FileSource
from chainrule.text.corpora.packing import is_json
from chainrule.text.options import TextOptions


def labeled_facts(spec: str | Path | Sequence[str | Path], options: TextOptions) -> dict[str, Any] | None:
    """Texts and labels of each file, and of each split of a JSON file; None where a text has no label."""
    layout = Layout(text=options.field, errors=options.errors, longest_line=options.longest_line)
    sources = _splits(open_corpus(spec, options).sources, layout)
    try:
        parts = {source.name: _counted(source, layout) for source in sources}
    except DataError:  # the first text without a label ends it: most text has none
        return None
    if not parts or not all(part["texts"] for part in parts.values()):
        return None
    words = [str(spec)] if isinstance(spec, str | Path) else [str(each) for each in spec]
    data = " ".join(f"--data {shlex.quote(word)}" for word in words)
    return {"parts": parts, "suggestion": f"chainrule train text-classifier {data} --out runs/labels"}


def _counted(source: FileSource, layout: Layout) -> dict[str, int]:
    texts, labels = 0, set[str]()
    for each in examples([source], layout):
        texts += 1
        labels.update(each.labels)
    return {"texts": texts, "labels": len(labels)}


def _splits(sources: Sequence[Any], layout: Layout) -> list[FileSource]:
    """Each file, or each split of a JSON file; nothing where one of them is no file."""
    found = []
    for source in sources:
        if not isinstance(source, FileSource):
            return []
        if is_json(source.path) and not source.part:
            try:
                found += [FileSource(source.path, part=name) for name in split_names(source.path, layout.longest_line)]
            except DataError:
                return []
        else:
            found.append(source)
    return found
