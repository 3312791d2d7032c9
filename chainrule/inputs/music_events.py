"""Music as a text: a word for each key that is struck, each that is let go, and for the time between."""

from __future__ import annotations

import re
from collections import defaultdict

from chainrule.inputs.music import LONGEST, PITCHES, Note, Piece, piece_of

AT_MOST = 16  # steps of one shift; a longer one is several words
ON, OFF, SHIFT = "on", "off", "t"
WORDS = tuple([f"{SHIFT}{n}" for n in range(1, AT_MOST + 1)] + [f"{kind}{pitch}" for kind in (ON, OFF)
                                                               for pitch in range(PITCHES)])
WORD = re.compile(rf"({ON}|{OFF}|{SHIFT})(\d{{1,3}})")


def events_of(piece: Piece, begin: int = 0) -> str:
    """`on60 on64 t4 off60 on62 t4`: two notes, four steps later the lower one moves up, and four steps more.

    At one time keys are let go before others are struck, each from low to high, so every piece has one text; what
    sounds at its end is let go there. With `begin`, only what happens from that step on. After Oore et al. 2018,
    arXiv:1808.03715, §3.2, without their loudness.
    """
    happens: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for start, pitch, end in piece.notes:
        happens[start].append((1, pitch))
        if end < piece.steps:
            happens[end].append((0, pitch))
    words, now = [], begin
    for step in sorted(step for step in happens if step >= begin):
        words += shifts(step - now)
        words += [f"{ON if struck else OFF}{pitch}" for struck, pitch in sorted(happens[step])]
        now = step
    return " ".join([*words, *shifts(piece.steps - now)])


def shifts(steps: int) -> list[str]:
    """The words for so much time: `t16 t3`."""
    return [f"{SHIFT}{AT_MOST}"] * (steps // AT_MOST) + ([f"{SHIFT}{steps % AT_MOST}"] if steps % AT_MOST else [])


def is_events(text: str) -> bool:
    """Whether a text is in this notation, every word of it."""
    return bool(text.split()) and all(word in KNOWN for word in text.split())


KNOWN = frozenset(WORDS)


def piece_of_events(text: str, source: str = "") -> Piece:
    """The reverse of `events_of`. What a model writes may be odd: a key that does not sound cannot be let go, and one
    that sounds is struck again; other words count for nothing.
    """
    notes, since, now = [], dict[int, int](), 0
    for kind, number in (found.groups() for word in text.split() if (found := WORD.fullmatch(word))):
        value = int(number)
        if kind == SHIFT:
            now = min(LONGEST, now + value)
        elif value < PITCHES:
            if value in since:
                notes.append(Note(since.pop(value), value, now))
            if kind == ON:
                since[value] = now
    notes += [Note(start, pitch, now) for pitch, start in since.items()]
    return piece_of(notes, now, source)


def starts_of_steps(words: list[str]) -> list[int]:
    """At which step each word of a text happens; a shift at the step at which it begins."""
    found, now = [], 0
    for word in words:
        found.append(now)
        if word.startswith(SHIFT):
            now += int(word.removeprefix(SHIFT))
    return found
