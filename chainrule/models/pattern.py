"""Patterns of sublayers: `(sf)*6` is sfsfsfsfsfsf, `[sf]*6` one block that is applied six times.

`{sf}*6` is one block too, but each time with norms of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from chainrule.errors import OptionError

MOST, DEEPEST, DIGITS = 10_000, 50, 9  # sublayers, groups inside groups, digits of a number that are looked at
TOKEN = re.compile(r"\s*([A-Za-z()\[\]{}]|\*\s*\d+)")
CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {closing: opening for opening, closing in CLOSING.items()}


@dataclass(frozen=True)
class Slot:
    """A sublayer: its letter, the number of its weights and that of its wiring, with its norms. Several may share them.
    """

    letter: str
    weights: int
    wiring: int


@dataclass
class _Group:
    """`(…)`, `[…]` or `{…}`, so many times; the whole pattern is one, too."""

    opening: str
    items: list[_Group | str] = field(default_factory=list)
    times: int = 1

    def slots(self, numbers: Iterator[int]) -> list[Slot]:
        """All its sublayers; round brackets make new weights each time, the others make them once."""
        if self.opening == "(":
            return [slot for _ in range(self.times) for slot in self._once(numbers)]
        once = self._once(numbers)
        if self.opening == "[":
            return self.times * once
        return [slot for n in range(self.times) for slot in (_with_own_wirings(once, numbers) if n else once)]

    def _once(self, numbers: Iterator[int]) -> list[Slot]:
        found = []
        for item in self.items:
            found += item.slots(numbers) if isinstance(item, _Group) else [Slot(item, number := next(numbers), number)]
        return found

    def written(self) -> str:
        """The group as a pattern has it."""
        inside = "".join(item if isinstance(item, str) else item.written() for item in self.items)
        letter = self.opening == "(" and len(inside) == 1
        return (inside if letter else f"{self.opening}{inside}{CLOSING[self.opening]}") + (
            f"*{self.times}" if self.times != 1 else "")

    def size(self) -> int:
        """How many sublayers it has."""
        return self.times * sum(1 if isinstance(item, str) else item.size() for item in self.items)


def _with_own_wirings(slots: list[Slot], numbers: Iterator[int]) -> list[Slot]:
    """The same sublayers, with other norms; those that shared a wiring still do."""
    new = {old: next(numbers) for old in dict.fromkeys(slot.wiring for slot in slots)}
    return [replace(slot, wiring=new[slot.wiring]) for slot in slots]


def slots(pattern: str) -> list[Slot]:
    """Every sublayer from the input to the output. Press, Smith & Levy 2020, arXiv:1911.03864.

    Shared weights: Lan et al. 2020 (ALBERT), arXiv:1909.11942; Dehghani et al. 2019, arXiv:1807.03819; with norms of
    their own: Xue et al. 2022 (WideNet), arXiv:2107.11817, §2.3. An empty pattern has none: the head sees embeddings,
    or what a pooling makes of them.
    """
    whole = _parsed(pattern)
    if not whole.size() and pattern.strip():
        raise _wrong(pattern, "at least one sublayer")
    return whole.slots(count())


def sublayers(pattern: str) -> str:
    """The letters of all sublayers."""
    return "".join(slot.letter for slot in slots(pattern))


def with_depth(pattern: str, depth: int) -> str:
    """The pattern with its largest group so many times: `s(sf)*6` with a depth of 12 is `s(sf)*12`.

    Without groups, what is repeated is one: `rr` with a depth of 3 is `r*3`.
    """
    whole = _parsed(pattern)
    groups = sorted((item for item in whole.items if isinstance(item, _Group)), key=_Group.size)
    if not groups:
        letters = sublayers(pattern)
        lengths = [n for n in range(1, len(letters) + 1) if letters == letters[:n] * (len(letters) // n)]
        groups = [_Group("(", list(letters[:lengths[0]]))] if lengths else []
        whole.items = [*groups]
    if not groups or len(groups) > 1 and groups[-1].size() == groups[-2].size():
        raise _wrong(pattern, "one group that is larger than the others, so that model.depth can say how often it is "
                     "repeated")
    groups[-1].times = depth
    return "".join(item if isinstance(item, str) else item.written() for item in whole.items)


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
                raise _wrong(pattern, f"a {OPENING[token]!r} for each {token!r}")
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
