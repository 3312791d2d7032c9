"""Everything wrong with a recipe or a part's options at once: one problem, one line, each with its path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chainrule.errors import UsageError

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """A place and a sentence about it; the first `{}` of the sentence stands for the place."""

    path: Path
    sentence: str

    def under(self, path: Path) -> Problem:
        """The same problem with a longer path."""
        return Problem(path + self.path, self.sentence)

    def __str__(self) -> str:
        return self.sentence.replace("{}", dotted(self.path), 1)


class Problems(UsageError, ValueError):
    """Raised with every problem found; also a ValueError, so that a pydantic validator may raise it."""

    def __init__(self, problems: Iterable[Problem], lines: Iterable[str] = ()):
        self.problems = list(problems)
        super().__init__("\n".join(lines or map(str, self.problems)))


def wrong(path: Path, got: object, expected: str, hint: str = "") -> Problem:
    """`where = got, expected what. What to try.`"""
    return Problem(path, f"{{}} = {got!r}, expected {expected.rstrip('.')}.{hint}")


def dotted(path: Path) -> str:
    """`("model", "prune", 0)` as people write it: `model.prune[0]`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
