"""The words of an ARPA file: checked, with the marks in the first places."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NoReturn

import numpy as np

from chainrule.counting.arpa.spelling import END, START, UNKNOWN
from chainrule.counting.arpa.trie import Keyed

MARKS = [UNKNOWN.encode(), START.encode(), END.encode()]
LACKING = {
    UNKNOWN: "words that it does not know have probability 0.",
    START: "a unit's first word is predicted without context.",
    END: "every unit has probability 0, as none can end.",
}
Fail = Callable[[int, str], NoReturn]  # takes the word's row and the problem
log = logging.getLogger("chainrule")


def renumbered(words: list[bytes], log_probs: np.ndarray, backoffs: np.ndarray,
               fail: Fail) -> tuple[list[bytes], Keyed]:
    """<unk> 0, <s> 1, </s> 2, then as in the file; <UNK> means <unk>, and <s> is never predicted."""
    _check_spelling(words, fail)
    words = _one_unknown(words, fail)
    missing = [mark for mark in MARKS if mark not in words]
    for mark in missing:
        log.info(f"the file has no {mark.decode()}: {LACKING[mark.decode()]}")
    words = words + missing
    marked = [words.index(mark) for mark in MARKS]
    order = np.concatenate([marked, np.delete(np.arange(len(words)), marked)])
    log_probs = np.append(log_probs, np.full(len(missing), -np.inf, np.float32))[order]
    backoffs = np.append(backoffs, np.zeros(len(missing), np.float32))[order]
    log_probs[1] = -np.inf
    level = Keyed(np.arange(len(words)), np.array([0, len(words)], np.uint32), log_probs, backoffs)
    return [words[i] for i in order], level


def _check_spelling(words: list[bytes], fail: Fail) -> None:
    for row, word in enumerate(words):
        try:
            if b"\0" in word:
                fail(row, f"the word {word.decode(errors='replace')!r} has a NUL byte; this is not a text file.")
            word.decode()
        except UnicodeDecodeError:
            fail(row, f"the word {word!r} is not UTF-8. Convert the file, for example with iconv -f latin-1 -t utf-8.")


def _one_unknown(words: list[bytes], fail: Fail) -> list[bytes]:
    capital = MARKS[0].upper()
    if capital not in words:
        return words
    row = words.index(capital)
    if MARKS[0] in words:
        fail(max(row, words.index(MARKS[0])), "both <unk> and <UNK> are there, and both mean the unknown word.")
    return [*words[:row], MARKS[0], *words[row + 1:]]
