"""Refuses more texts or beams than fit in memory: a mistyped number should not fill the machine."""

from __future__ import annotations

from math import isqrt

from chainrule.errors import OptionError
from chainrule.storage.environment import memory

TEXT, TOKEN = 2000, 60  # bytes of a finished text, and of each of its tokens
TOKENS = 100  # assumed length of a text at most: most texts end sooner than their limit
DRAFT, SCORE = 500, 16  # bytes of each candidate of a beam, and of the score of each token of the vocabulary


def check_texts(num: int, max_tokens: int) -> None:
    """Refuses texts that take more than all memory: all of them are returned at once."""
    most = memory() // (TEXT + TOKEN * min(max_tokens, TOKENS))
    if num > most:
        raise OptionError("num", num, f"at most {most:,}: more do not fit in the {_memory_text()} of this machine",
                          "Generate fewer at a time, each time with another seed.")


def check_beams(beams: int, vocabulary_size: int) -> None:
    """Refuses b beams that take more than all memory: a step scores b · V tokens and sorts b · min(b + 1, V) drafts."""
    follow = min(beams + 1, vocabulary_size)
    if beams * (SCORE * vocabulary_size + DRAFT * follow) > memory():
        wide = memory() // ((SCORE + DRAFT) * vocabulary_size)  # with as many drafts a beam as there are tokens
        few = (isqrt((SCORE * vocabulary_size + DRAFT) ** 2 + 4 * DRAFT * memory())
               - SCORE * vocabulary_size - DRAFT) // (2 * DRAFT)  # b² D + b (V S + D) = memory
        raise OptionError("beams", beams, f"at most {max(1, wide, few):,}: more do not fit in the {_memory_text()} "
                          "of this machine", "4 to 10 are usual.")


def _memory_text() -> str:
    return f"{memory() / 1e9:,.0f} GB of memory"
