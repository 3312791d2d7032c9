"""How tokens are spelled in an ARPA file: no white space inside, and the marks' names for the marks alone."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

from chainrule.counting.table import Table
from chainrule.errors import DataError
from chainrule.text.tokenizers._layout import byte_spellings

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
WHITE = re.compile(r"[\0\t\n\v\f\r ]")
log = logging.getLogger("chainrule")


def spelled(table: Table, tokens: list[str]) -> list[str]:
    """One word for each id, all different; a message for every token that is renamed.

    - <s> and </s> are the table's marks. A token of the text that is spelled so has its brackets changed: ⟨s⟩.
    - <unk> is the table's unknown word, unless the text has an ordinary word <unk> (as the Penn Treebank does): then
      that word keeps its name, so that the text means the same to every reader of the file.
    - Tokens with white space in them (characters) are all spelled in the byte alphabet of GPT-2, where a space is Ġ.
    """
    marks = {table.start: START, table.end: END}
    ordinary = {i: token for i, token in enumerate(tokens) if i not in marks and i != table.unknown}
    if any(WHITE.search(token) for token in ordinary.values()):
        alphabet = byte_spellings()
        ordinary = {i: "".join(alphabet[byte] for byte in token.encode()) for i, token in ordinary.items()}
        log.info("some tokens hold white space: all are spelled in GPT-2's byte alphabet (space is Ġ, line end Ċ).")
    if table.unknown is not None:
        marks[table.unknown] = _name_of_unknown(tokens[table.unknown], ordinary.values())
    named = dict(sorted((_renamed(ordinary, marks) | marks).items()))
    _must_differ(named)
    return list(named.values())


def _name_of_unknown(token: str, ordinary: Iterable[str]) -> str:
    if UNKNOWN not in set(ordinary):
        return UNKNOWN
    log.info(f"the text has its own word {UNKNOWN}, which keeps that name in the file: unseen words are scored as it. "
             f"The model's own share for unseen words is there as the word {token}.")
    return token


def _renamed(ordinary: dict[int, str], marks: dict[int, str]) -> dict[int, str]:
    """Ordinary tokens whose spelling has a meaning in the format; KenLM takes <UNK> for <unk>."""
    taken = {START, END}
    if UNKNOWN in marks.values() or UNKNOWN in ordinary.values():
        taken |= {UNKNOWN.upper()} | (set(marks.values()) & {UNKNOWN})
    other = {i: f"⟨{token[1:-1]}⟩" for i, token in ordinary.items() if token in taken}
    for i, spelling in other.items():
        log.info(f"the token {ordinary[i]} of the text is written as {spelling}: the format has its own {ordinary[i]}.")
    return ordinary | other


def _must_differ(named: dict[int, str]) -> None:
    first: dict[str, int] = {}
    for i, spelling in named.items():
        if not spelling:
            raise DataError(f"token {i} is empty, expected something that an ARPA file can spell.")
        if first.setdefault(spelling, i) != i:
            raise DataError(f"tokens {first[spelling]} and {i} would both be {spelling!r} in an ARPA file, "
                            "expected different spellings. Train with another tokenizer to export this model.")
