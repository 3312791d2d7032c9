"""What `chainrule inspect RUN …` was asked to look at; the view of the run's task decides what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chainrule.errors import UsageError


@dataclass(frozen=True)
class Asked:
    """The arguments and options of one look.

    A view is a module `NAME_shown` of this folder that a task names: `look(asked)` shows it, TAKES are the options that
    it understands, OF says in a sentence what it looks at.
    """

    what: list[str]  # the run, then texts, files or words, and changes of how text is read
    text: str | None
    text_is: str | None
    tokens: int | None
    top: int | None
    figure: str | None
    out: Path | None
    json: bool

    @property
    def run(self) -> str:
        return self.what[0]

    @property
    def things(self) -> list[str]:
        """Texts, files or words."""
        return parted(self.what[1:])[0]

    @property
    def texts(self) -> list[str]:
        """The same, and the text of --text-is."""
        return [*self.things, *([self.text_is] if self.text_is is not None else [])]

    @property
    def overrides(self) -> list[str]:
        """Changes of how text is read."""
        return parted(self.what[1:])[1]

    def check(self, takes: Sequence[str], of: str) -> None:
        """Refuses options that a view does not understand."""
        options = {"--text": self.text, "--text-is": self.text_is, "--tokens": self.tokens, "--top": self.top,
                   "--figure": self.figure}
        refuse({name: value for name, value in options.items() if name not in takes}, f"does nothing with {of}")


def parted(words: Sequence[str], sections: tuple[str, ...] = ("text.",)) -> tuple[list[str], list[str]]:
    """Texts, and changes of how text is read."""
    changes = [word for word in words if word.startswith(sections) and "=" in word]
    return [word for word in words if word not in changes], changes


def refuse(options: dict[str, object], why: str) -> None:
    """Refuses options that would be ignored."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name} = {value} {why}. Leave one of them out.")
