"""A check of a text before training: how much there is, what is unusual about it, and what to try."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.text.corpora.corpus import Chunk, Corpus
from chainrule.text.corpora.decoding import BOM
from chainrule.text.corpora.formats import FileSource
from chainrule.text.corpora.looks import Look
from chainrule.text.corpora.opening import SourceCorpus, looks_of, open_corpus
from chainrule.text.corpora.packing import open_stream
from chainrule.text.distinct import Distinct
from chainrule.text.kinds import Kind, kind_of
from chainrule.text.options import TextOptions
from chainrule.text.scripts import Scripts
from chainrule.text.units import SPACE

CHUNK = 1 << 20
HELD = 8 << 20  # bytes of one line that are kept to compare it with others
IS_SPACE = np.isin(np.arange(256), list(SPACE))
ODD = {"U+FFFD (replaced characters)": "\ufffd", "U+2028 (line separators)": "\u2028",
       "U+FEFF (inside the text)": "\ufeff", "U+00A0 (no-break spaces)": "\u00a0"}


def check(spec: str | Path | Sequence[str | Path], options: TextOptions | None = None) -> dict[str, Any]:
    """Facts about a corpus. Bad bytes do not end it: `problem` says what training would say."""
    corpus, problem = open_corpus(spec, options), None
    asked = corpus.options
    try:
        tally = _tallied(corpus)
    except DataError as error:
        problem, asked = str(error), asked.model_copy(update={"errors": "replace"})
        tally = _tallied(SourceCorpus(corpus.sources, asked))
    if not tally.words and problem is None:
        problem = f"{corpus.name}: there is no text in it{', only white space' if tally.bytes else ''}."
    specs = [str(spec)] if isinstance(spec, str | Path) else [str(one) for one in spec]
    odd = {**tally.odd(), **_byte_order_marks(corpus)}
    looks = looks_of(corpus.sources, asked) if asked.format == "auto" else {}
    kind = None if problem else kind_of(corpus, tally.byte)
    return {
        "corpus": corpus.name, "files": len(corpus.files), "bytes_on_disk": corpus.size, "problem": problem,
        "encoding": _encoding(tally, problem), "bytes": tally.bytes, "characters": tally.characters,
        "words": tally.words, "lines": tally.lines, "documents": tally.documents, "longest_line": tally.longest,
        "blank_lines": tally.blank, "duplicate_lines": tally.duplicates(), "duplicates_are_exact": tally.distinct.exact,
        "unspaced_script": tally.scripts.unspaced(), "kind": kind and kind.name, "kind_is": kind and kind.what,
        "odd": {what: count for what, count in odd.items() if count},
        "looks_like": [{"what": look.what, "files": names} for look, names in looks.items()],
        "suggestions": _otherwise(looks, specs) or suggestions(tally, specs, asked, kind) if tally.words else [],
    }


class Tally:
    """Counts that add up chunk by chunk; a word or line may go on in the next chunk."""

    def __init__(self) -> None:
        self.bytes = self.characters = self.words = self.lines = self.documents = self.longest = self.blank = 0
        self.crlf, self.byte, self.special = 0, np.zeros(256, np.int64), dict.fromkeys(ODD, 0)
        self.distinct, self.scripts = Distinct(), Scripts()
        self.in_word, self.line, self.skipped = False, b"", 0

    def add(self, chunk: Chunk) -> None:
        data = np.frombuffer(chunk.data, np.uint8)
        self.bytes += len(data)
        self.byte += np.bincount(data, minlength=256)
        self.characters += int((data & 0xC0 != 0x80).sum())
        space = np.concatenate([[not self.in_word], IS_SPACE[data]])
        self.words += int((space[:-1] & ~space[1:]).sum())
        self.in_word = bool(~space[-1]) and not chunk.ends_document
        self.crlf += chunk.data.count(b"\r\n")
        for what, character in ODD.items():
            self.special[what] += chunk.data.count(character.encode())
        self.scripts.add(chunk)
        self._add_lines(chunk)

    def _add_lines(self, chunk: Chunk) -> None:
        """Of a line that is longer than HELD only the end is kept, and how much went before it."""
        if len(self.line) > HELD:
            self.skipped, self.line = self.skipped + len(self.line) - 1, self.line[-1:]
        *whole, self.line = (self.line + chunk.data).split(b"\n")
        if chunk.ends_document and self.line:
            whole, self.line = [*whole, self.line], b""
        self.documents += chunk.ends_document
        if not whole:
            return
        self.lines += len(whole)
        self.longest = max(self.longest, self.skipped + len(whole[0]), max(map(len, whole)))
        self.skipped = 0
        filled = [line for line in whole if line.strip(SPACE)]
        self.blank += len(whole) - len(filled)
        self.distinct.add(filled)

    def duplicates(self) -> int:
        return max(0, self.lines - self.blank - self.distinct.count())

    def odd(self) -> dict[str, int]:
        controls = int(sum(self.byte[b] for b in range(1, 32) if b not in b"\t\n\v\f\r")) + int(self.byte[127])
        return {"NUL bytes": int(self.byte[0]), "control bytes": controls, "CRLF line ends": self.crlf,
                "CR without LF": int(self.byte[13]) - self.crlf, **self.special}


def suggestions(tally: Tally, specs: Sequence[str], options: TextOptions, kind: Kind | None = None
                ) -> list[dict[str, str]]:
    """What to train first on so much text of this kind, each with its command."""
    data = " ".join(f"--data {shlex.quote(spec)}" for spec in specs)
    name = re.sub(r"\W+", "-", Path(specs[0]).name.split(".")[0]).strip("-") or "text"
    changes = options.model_dump(exclude_defaults=True)
    changed = "".join(f" text.{key}={shlex.quote(str(value))}" for key, value in changes.items())
    if kind is not None and kind.name == "dna":
        return _for_dna(tally, f"{data} --out runs/{name}", changed)
    found: list[tuple[str, int, str]] = []
    if kind is not None:
        found += _for_kind(tally, kind)
    elif tally.scripts.unspaced():
        found.append(("characters_and_bytes", 3 if tally.characters < 10**5 else 5,
                      "a token is a character, rare ones are bytes; nothing is lost; bits per byte"))
    elif tally.words * 20 > tally.characters:  # words of 20 characters at most on average: white space does part words
        found.append(("words", 3 if tally.words < 10**5 else 5, "classical and quick; perplexity as in the papers"))
    if tally.bytes >= 10**6 and kind is None:
        found.append(("byte_pair", 5, "nothing is lost; bits per byte"))
    found.append(("bytes", 6 if tally.bytes < 10**6 else 8, "nothing is lost, any alphabet; bits per byte"))
    return [{"what": f"{tokenizer}, order {order}: {what}",
             "command": f"chainrule train ngram {data} --out runs/{name}-{tokenizer} model.order={order} "
                        f"tokenizer.name={tokenizer} split.valid=0.1{changed}"} for tokenizer, order, what in found]


def _for_kind(tally: Tally, kind: Kind) -> list[tuple[str, int, str]]:
    """Tokens that lose nothing: in programs white space says what belongs together, and proteins have none."""
    if kind.name == "protein":
        return [("characters", 3 if tally.bytes < 10**6 else 5, "a token is an amino acid; bits per byte")]
    return [("byte_pair", 5, "pieces of names and of indentation; white space is kept; bits per byte")]


def _for_dna(tally: Tally, where: str, changed: str) -> list[dict[str, str]]:
    """A base is a token; long contexts pay only where a genome repeats them."""
    order = min(16, max(3, round(math.log(max(tally.bytes, 1), 4)) + 4))
    found = [(f"bases, contexts of up to {order - 1}, both strands: weights learned on a held-out tenth; bits per base",
              f"chainrule train dna {where}-dna model.order={order}{changed}"),
             ("bases, order 6: a first look; bits per base",
              f"chainrule train ngram {where}-characters model.order=6 tokenizer.name=characters split.valid=0.1"
              f"{changed}")]
    if tally.bytes >= 10**6:
        found.append(("a recurrent network over bases; needs torch; bits per base",
                      f"chainrule train gru {where}-gru tokenizer.name=characters model.context=256 split.valid=0.1"
                      f"{changed}"))
    return [{"what": what, "command": command} for what, command in found]


def _otherwise(looks: dict[Look, list[str]], specs: Sequence[str]) -> list[dict[str, str]]:
    """How to look at a text again as what it looks like, before anything is trained on its commas and quotes."""
    data = " ".join(map(shlex.quote, specs))
    return [{"what": f"as {look.what}", "command": f"chainrule data check {data} {look.flags}"}
            for look in looks if look.options]


def _tallied(corpus: Corpus) -> Tally:
    tally = Tally()
    for chunk in corpus.chunks(CHUNK):
        tally.add(chunk)
    return tally


def _encoding(tally: Tally, problem: str | None) -> str:
    if problem and "not UTF-8" in problem:
        return "not UTF-8"
    return "ASCII" if tally.characters == tally.bytes else "UTF-8"


def _byte_order_marks(corpus: SourceCorpus) -> dict[str, int]:
    count = 0
    for source in corpus.sources:
        if isinstance(source, FileSource):
            with open_stream(source.path) as stream:
                count += stream.read(3) == BOM
    return {"files with a byte-order mark": count}
