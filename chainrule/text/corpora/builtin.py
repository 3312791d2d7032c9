"""Corpora that every Python carries: no download."""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chainrule.text.corpora.blocks import cut_text
from chainrule.text.corpora.corpus import Chunk
from chainrule.text.corpora.formats import FileSource, Source
from chainrule.text.options import TextOptions


@dataclass(frozen=True)
class Topics:
    """The Python language reference as `help()` prints it: one document a topic."""

    name: str = "pydoc"

    def size(self) -> int:
        return sum(len(text) for text in self._texts())

    def digest(self) -> str:
        return hashlib.sha256(b"\0".join(self._texts())).hexdigest()

    def state(self) -> tuple[int, ...]:
        return ()  # it is part of Python

    def chunks(self, options: TextOptions, size: int) -> Iterator[Chunk]:
        line = 1
        for text in self._texts():
            for data, last in cut_text(text, size):
                yield Chunk(data, self.name, line, last)
                line += data.count(b"\n")

    def _texts(self) -> list[bytes]:
        from pydoc_data.topics import topics

        return [topics[name].encode() for name in sorted(topics)]


@dataclass(frozen=True)
class Builtin:
    """A built-in corpus: what it is, and where it comes from."""

    summary: str
    sources: Callable[[], list[Source]]


def _stdlib() -> list[Source]:
    folder = Path(sysconfig.get_path("stdlib"))
    apart = {"site-packages", "dist-packages", "__pycache__"}
    paths = sorted(path for path in folder.rglob("*.py") if not apart & set(path.relative_to(folder).parts))
    return [FileSource(path, replace=True) for path in paths]  # a few tests of encodings are not UTF-8 on purpose


BUILTINS = {
    "pydoc": Builtin("the Python language reference, English prose", lambda: [Topics()]),
    "stdlib": Builtin("the Python source of the standard library", _stdlib),
}
