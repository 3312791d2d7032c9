"""From what the user names (a path, a glob, a folder, a built-in's name, or several) to a corpus."""

from __future__ import annotations

import glob
import hashlib
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from chainrule.errors import DataError, UsageError, did_you_mean
from chainrule.text.corpora.builtin import BUILTINS
from chainrule.text.corpora.corpus import CHUNK, Chunk, Corpus
from chainrule.text.corpora.finding import file_source, in_folder, matching, named
from chainrule.text.corpora.formats import FileSource, Source
from chainrule.text.corpora.looks import Look, look_of
from chainrule.text.corpora.packing import is_json, readable
from chainrule.text.options import TextOptions

log = logging.getLogger("chainrule")
LOOKED_AT = 100  # files of a corpus whose first lines are looked at
VERSION = "1"  # goes into fingerprints: change it when a reader gives other text for the same file


@dataclass(frozen=True)
class SourceCorpus:
    """The texts of several sources, one after the other."""

    sources: tuple[Source, ...]
    options: TextOptions = field(default_factory=TextOptions)

    @property
    def name(self) -> str:
        return named(self.files, 3)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(source.name for source in self.sources)

    @cached_property
    def size(self) -> int:
        return sum(source.size() for source in self.sources)

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        for source, before in zip(self.sources, self._states, strict=True):
            yield from source.chunks(self.options, size)
            _check_unchanged(source, before)

    def fingerprint(self) -> str:
        return self._fingerprint

    @cached_property
    def _states(self) -> list[tuple[int, ...]]:
        """The sources as they were at first: the fingerprint vouches for no other text."""
        return [source.state() for source in self.sources]

    @cached_property
    def _fingerprint(self) -> str:
        digests = []
        for source, before in zip(self.sources, self._states, strict=True):
            digests.append(source.digest())
            _check_unchanged(source, before)
        return hashlib.sha256("\n".join([VERSION, self.options.digest(), *digests]).encode()).hexdigest()


def _check_unchanged(source: Source, before: tuple[int, ...]) -> None:
    if source.state() != before:
        raise DataError(f"{source.name}: changed while it was read. Try again when nothing writes to it.")


def open_corpus(spec: str | Path | Sequence[str | Path] | Corpus, options: TextOptions | None = None) -> Any:
    """A corpus from a path, a glob, a folder, a built-in's name, or a sequence of these; a corpus is one already.

    Files that a folder or glob has and that are not text are left out; a line says which. Another line says where a
    file that is read as plain text looks like JSON lines, a table or a treebank.
    """
    if isinstance(spec, Corpus):
        return spec
    how = options or TextOptions()
    specs = [spec] if isinstance(spec, str | Path) else list(spec)
    sources = [source for one in specs for source in _sources(one, how.format)]
    if not sources:
        raise DataError("no corpus was named, expected a path, a glob, a folder or a built-in's name."
                        f"{did_you_mean('', BUILTINS)}")
    if how.format == "auto":
        _warn(looks_of(sources, how))
    return SourceCorpus(tuple(sources), how)


def looks_of(sources: Sequence[Source], options: TextOptions) -> dict[Look, list[str]]:
    """The files that are read as plain text and look like something else, by what they look like."""
    found: dict[Look, list[str]] = {}
    files = [source for source in sources if isinstance(source, FileSource) and not source.replace]
    for source in files[:LOOKED_AT]:
        if look := look_of(source, options.field):
            found.setdefault(look, []).append(source.name)
    return found


def _warn(looks: dict[Look, list[str]]) -> None:
    for look, names in looks.items():
        seem, are = ("looks", "is") if len(names) == 1 else ("look", "are")
        log.warning(f"{named(names, 3)}: {seem} like {look.what}, and {are} read as plain text. {look.advice}")


def _sources(spec: str | Path, form: str) -> list[Source]:
    if not isinstance(spec, str | Path):
        raise UsageError(f"the text is {str(spec)[:40]}, expected a path, a glob, a folder or a built-in's name. Write "
                         "sentences to a file, one a line.")
    if spec == "-":
        raise DataError("-: standard input, expected a file, since text is read more than once. Save it in a file "
                        "first.")
    path = Path(spec).expanduser()
    with readable(path):
        if path.is_dir() and str(spec):
            return in_folder(path, form)
        if path.exists() and str(spec):
            if not path.is_file():
                raise DataError(f"{spec}: a pipe or a device, expected a file, since text is read more than once. "
                                "Save it in a file first.")
            return [file_source(path, form)]
    file, _, part = str(path).rpartition(":")
    if part and is_json(Path(file)) and Path(file).is_file():  # data.json:test
        return [FileSource(Path(file), part=part)]
    if str(spec) in BUILTINS:
        return BUILTINS[str(spec)].sources()
    if glob.has_magic(str(path)):
        return matching(path, form)
    raise DataError(f"{spec or 'an empty name'}: no such file or folder, and no built-in corpus has that name."
                    f"{_near(path)}")


def _near(path: Path) -> str:
    siblings = os.listdir(path.parent) if path.parent.is_dir() and os.access(path.parent, os.R_OK) else []
    hint = did_you_mean(path.name, [*siblings, *BUILTINS])
    return hint if "Did you mean" in hint else did_you_mean("", BUILTINS).replace("Known", "Built-in")
