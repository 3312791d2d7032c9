"""From what the user names (a path, a glob, a folder, a built-in's name, or several) to a corpus."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from chainrule.errors import DataError, UsageError, did_you_mean
from chainrule.text.corpora.builtin import BUILTINS
from chainrule.text.corpora.corpus import CHUNK, Chunk, Corpus
from chainrule.text.corpora.formats import FORMATS, FileSource, Source, format_of
from chainrule.text.corpora.packing import is_json, readable
from chainrule.text.options import TextOptions

VERSION = "1"  # goes into fingerprints: change it when a reader gives other text for the same file


@dataclass(frozen=True)
class SourceCorpus:
    """The texts of several sources, one after the other."""

    sources: tuple[Source, ...]
    options: TextOptions = field(default_factory=TextOptions)

    @property
    def name(self) -> str:
        return ", ".join(self.files[:3]) + (f" and {len(self.files) - 3} more" if len(self.files) > 3 else "")

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
    """A corpus from a path, a glob, a folder, a built-in's name, or a sequence of these; a corpus is one already."""
    if isinstance(spec, Corpus):
        return spec
    specs = [spec] if isinstance(spec, str | Path) else list(spec)
    sources = [source for one in specs for source in _sources(one)]
    if not sources:
        raise DataError("no corpus was named, expected a path, a glob, a folder or a built-in's name."
                        f"{did_you_mean('', BUILTINS)}")
    return SourceCorpus(tuple(sources), options or TextOptions())


def _sources(spec: str | Path) -> list[Source]:
    if not isinstance(spec, str | Path):
        raise UsageError(f"the text is {str(spec)[:40]}, expected a path, a glob, a folder or a built-in's name. Write "
                         "sentences to a file, one a line.")
    if spec == "-":
        raise DataError("-: standard input, expected a file, since text is read more than once. Save it in a file "
                        "first.")
    path = Path(spec).expanduser()
    with readable(path):
        if path.is_dir() and str(spec):
            return _in_folder(path)
        if path.exists() and str(spec):
            if not path.is_file():
                raise DataError(f"{spec}: a pipe or a device, expected a file, since text is read more than once. "
                                "Save it in a file first.")
            return [FileSource(path, format_of(path) or ".txt")]
    file, _, part = str(path).rpartition(":")
    if part and is_json(Path(file)) and Path(file).is_file():  # data.json:test
        return [FileSource(Path(file), part=part)]
    if str(spec) in BUILTINS:
        return BUILTINS[str(spec)].sources()
    if glob.has_magic(str(path)):
        return _matching(path)
    raise DataError(f"{spec or 'an empty name'}: no such file or folder, and no built-in corpus has that name."
                    f"{_near(path)}")


def _in_folder(folder: Path) -> list[Source]:
    runs = {path.parent for path in folder.rglob("MANIFEST.json")}  # models are no text, though they hold .jsonl
    found = sorted(path for path in folder.rglob("*") if path.is_file() and format_of(path)
                   and not _hidden(path, folder) and runs.isdisjoint(path.parents))
    if not found:
        raise DataError(f"{folder}: no file in this folder has a known ending ({', '.join(FORMATS)}, packed or not).")
    return [FileSource(path, format_of(path) or ".txt") for path in found]


def _matching(pattern: Path) -> list[Source]:
    found = sorted(Path(name) for name in glob.glob(str(pattern), recursive=True) if Path(name).is_file())
    if not found:
        raise DataError(f"{pattern}: no file matches this pattern.")
    return [FileSource(path, format_of(path) or ".txt") for path in found]


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _near(path: Path) -> str:
    siblings = os.listdir(path.parent) if path.parent.is_dir() and os.access(path.parent, os.R_OK) else []
    hint = did_you_mean(path.name, [*siblings, *BUILTINS])
    return hint if "Did you mean" in hint else did_you_mean("", BUILTINS).replace("Known", "Built-in")
