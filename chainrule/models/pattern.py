"""The sentence of sublayers: `(sf)*6` is sfsfsfsfsfsf, `s*3 (sf)*6 f*3` a sandwich."""

from __future__ import annotations

import re

from chainrule.errors import OptionError

LETTERS = {"s": "self-attention", "f": "feedforward", "r": "recurrence", "c": "convolution", "w": "window",
           "x": "cross-attention"}
MOST = 10_000  # sublayers
TOKEN = re.compile(rf"\s*([{''.join(LETTERS)}()]|\*\s*\d+)")


def sublayers(pattern: str) -> str:
    """The letters of all sublayers, from the input to the output. Press, Smith & Levy 2020, arXiv:1911.03864."""
    tokens, at = [], 0
    text = pattern.rstrip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            known = ", ".join(f"{letter} {name}" for letter, name in LETTERS.items())
            raise _wrong(pattern, f"letters ({known}), groups and repeats; {text[at:].strip()[0]!r} is none of them")
        tokens.append(found[1].replace(" ", ""))
        at = found.end()
    letters, rest = _sequence(tokens, pattern)
    if rest:
        raise _wrong(pattern, "a '(' for each ')'")
    if not letters:
        raise _wrong(pattern, "at least one sublayer")
    return letters


def _sequence(tokens: list[str], pattern: str) -> tuple[str, list[str]]:
    """The letters up to the end or the closing parenthesis, and the tokens from there."""
    letters = ""
    while tokens and tokens[0] != ")":
        token, *tokens = tokens
        if token.startswith("*"):
            raise _wrong(pattern, "a letter or a group before each '*'")
        if token == "(":
            item, tokens = _sequence(tokens, pattern)
            if not tokens:
                raise _wrong(pattern, "a ')' for each '('")
            tokens = tokens[1:]
        else:
            item = token
        if tokens and tokens[0].startswith("*"):
            times, *tokens = tokens
            if int(times[1:]) * len(item) + len(letters) > MOST:
                raise _wrong(pattern, f"at most {MOST:,} sublayers")
            item *= int(times[1:])
        letters += item
    return letters, tokens


def _wrong(pattern: str, expected: str) -> OptionError:
    return OptionError("model.pattern", pattern, expected, "For example (sf)*6.")
