"""The one family of exceptions: every mistake that the user can correct is a ChainruleError."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ChainruleError(Exception):
    """A mistake that one clear line can explain; the command line prints it without a traceback and exits with 1."""


class UsageError(ChainruleError):
    """The command itself is wrong (an unknown name, a bad option); the command line exits with 2."""


class OptionError(UsageError):
    """`where = got, expected what. What to try.`"""

    def __init__(self, where: str, got: object, expected: str, hint: str = ""):
        shown = list(got) if isinstance(got, tuple) else got  # as YAML has it
        super().__init__(f"{where} = {shown!r}, expected {expected}." + (f" {hint}" if hint else ""))
        self.where, self.got, self.expected, self.hint = where, got, expected, hint

    def at(self, where: str) -> OptionError:
        """The same error with another name for the option."""
        return OptionError(where, self.got, self.expected, self.hint)


class DataError(ChainruleError):
    """A text or table that cannot be read: names the file and the line or byte."""


class StorageError(ChainruleError):
    """A run folder that is missing, damaged or cannot be written: names the file."""


def is_panic(error: BaseException) -> bool:
    """Whether a module written in Rust failed: such a panic is no `Exception`, and its class cannot be imported."""
    return type(error).__name__ == "PanicException"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` for a near miss, otherwise ` Known: a, b, c.`; always starts with a space or is empty."""
    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f" Did you mean {near[0]!r}?"
    return f" Known: {', '.join(names)}." if names else ""
