"""Patterns of sublayers: `(sf)*6` is sfsfsfsfsfsf, `[sf]*6` one block that is applied six times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from chainrule.errors import OptionError

MOST, DEEPEST, DIGITS = 10_000, 50, 9  # sublayers, groups inside groups, digits of a number that are looked at
TOKEN = re.compile(r"\s*([A-Za-z()\[\]]|\*\s*\d+)")
CLOSING = {"(": ")", "[": "]"}


@dataclass(frozen=True)
class Slot:
    """A sublayer: its letter, and the number of its weights, which several may share."""

    letter: str
    weights: int


@dataclass
class _Group:
    """`(…)` or `[…]`, so many times; the whole pattern is one, too."""

    opening: str
    items: list[_Group | str] = field(default_factory=list)
    times: int = 1

    def slots(self, numbers: Iterator[int]) -> list[Slot]:
        """All its sublayers; round brackets make new weights each time, square ones make them once."""
        made, again = (1, self.times) if self.opening == "[" else (self.times, 1)
        return again * [slot for _ in range(made) for item in self.items for slot in (
            [Slot(item, next(numbers))] if isinstance(item, str) else item.slots(numbers))]

    def size(self) -> int:
        """How many sublayers it has."""
        return self.times * sum(1 if isinstance(item, str) else item.size() for item in self.items)


def slots(pattern: str) -> list[Slot]:
    """Every sublayer from the input to the output. Press, Smith & Levy 2020, arXiv:1911.03864.

    Shared weights: Lan et al. 2020 (ALBERT), arXiv:1909.11942; Dehghani et al. 2019, arXiv:1807.03819. An empty pattern
    has none: the head sees embeddings, or what a pooling makes of them.
    """
    whole = _parsed(pattern)
    if not whole.size() and pattern.strip():
        raise _wrong(pattern, "at least one sublayer")
    return whole.slots(count())


def sublayers(pattern: str) -> str:
    """The letters of all sublayers."""
    return "".join(slot.letter for slot in slots(pattern))


def _parsed(pattern: str) -> _Group:
    whole = _Group("(")
    inside = [whole]  # the groups that are open
    last: _Group | str | None = None  # what a repeat would repeat
    for token in _tokens(pattern):
        if token.startswith("*"):
            if last is None:
                raise _wrong(pattern, "a letter or a group before each '*'")
            again = _Group("(", [last]) if isinstance(last, str) else last
            again.times = min(int(token[1:][:DIGITS]), MOST + 1)
            inside[-1].items[-1], last = again, None
            if whole.size() > MOST:
                raise _wrong(pattern, f"at most {MOST:,} sublayers")
        elif token in CLOSING:
            if len(inside) > DEEPEST:
                raise _wrong(pattern, f"at most {DEEPEST} groups inside each other")
            inside.append(_Group(token))
            inside[-2].items.append(inside[-1])
            last = None
        elif token in CLOSING.values():
            last = inside.pop()
            if not inside or CLOSING[last.opening] != token:
                raise _wrong(pattern, f"a {'(' if token == ')' else '['!r} for each {token!r}")
        else:
            inside[-1].items.append(token)
            last = token
    if len(inside) > 1:
        raise _wrong(pattern, f"a {CLOSING[inside[-1].opening]!r} for each {inside[-1].opening!r}")
    return whole


def _tokens(pattern: str) -> Iterator[str]:
    at, text = 0, pattern.rstrip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise _wrong(pattern, f"letters, groups and repeats; {text[at:].strip()[0]!r} is none of them")
        yield found[1].replace(" ", "")
        at = found.end()


def _wrong(pattern: str, expected: str) -> OptionError:
    shown = pattern if len(pattern) <= 60 else f"{pattern[:57]}..."
    return OptionError("model.pattern", shown, expected, "For example (sf)*6.")
