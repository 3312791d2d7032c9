"""Held-out text that is also in the training text, which makes an evaluation look too good."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from chainrule.text.corpora.corpus import Corpus, documents

LONG = 60  # bytes: so long a line is hardly repeated by chance
SLACK = 1 << 10  # bytes of white space around a document
SHOWN = 3
EACH = 80  # characters shown


def duplicates(train: Corpus, held_out: Sequence[bytes]) -> dict[str, Any]:
    """Held-out documents, and long lines, that the training text has word for word; white space at ends aside."""
    whole = {_key(text) for text in held_out}
    lines = {_key(line): line for text in held_out for line in text.split(b"\n") if len(line.strip()) >= LONG}
    longest = max(map(len, held_out), default=0) + SLACK
    seen_documents, seen_lines = set(), set()
    for document in documents(train):
        text = b""
        for chunk in document.chunks:
            text = text + chunk.data if len(text) <= longest else text  # a longer one is no copy
            seen_lines |= {_key(line) for line in chunk.data.split(b"\n") if len(line) >= LONG} & lines.keys()
        if len(text) <= longest and (key := _key(text)) in whole:
            seen_documents.add(key)
    found = [line for key, line in lines.items() if key in seen_lines]
    count = sum(_key(text) in seen_documents for text in held_out)
    repeated = sum(len(text) if _key(text) in seen_documents else _in_lines(text, seen_lines) for text in held_out)
    return {"documents": count, "lines": len(found), "bytes": repeated,
            "examples": [line.decode().strip()[:EACH] for line in found[:SHOWN]]}


def _in_lines(text: bytes, seen: set[bytes]) -> int:
    """Bytes of the lines that were seen, with their ends, but for the last line of a text that has none."""
    return min(len(text), sum(len(line) + 1 for line in text.split(b"\n") if _key(line) in seen))


def sentence(found: dict[str, Any], held_out_bytes: int, piece: str = "document") -> str | None:
    """A sentence about them for the report; None if there are none."""
    if not found["documents"] and not found["lines"]:
        return None
    what = piece if piece == "document" else "passage"
    share = f"{found['bytes'] / held_out_bytes:.1%}" if held_out_bytes else "0 %"
    return (f"of the held-out text {_count(found['documents'], what)} and {_count(found['lines'], 'long line')} "
            f"({share} of its bytes) are also in the training text, word for word: a model that memorizes text "
            "looks better than it is.")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _key(text: bytes) -> bytes:
    return hashlib.blake2b(text.strip(), digest_size=16).digest()
