"""Control characters on a terminal are shown, not obeyed: a text may hold some that clear it or rename its window."""

from __future__ import annotations

import sys
from typing import Any, TextIO

OBEYED = "\n\t"
SHOWN = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in OBEYED}


def visible(text: str) -> str:
    r"""The text with its control characters spelled out, except newline and tab: ESC is `\x1b`."""
    return text.translate(SHOWN)


def visible_on(stream: TextIO, text: str) -> str:
    """The text as it may be written to this stream: a terminal gets no control characters, a pipe or file gets all."""
    return visible(text) if stream.isatty() else text


class VisibleStream:
    """A terminal's stream that shows the control characters of what is written to it."""

    def __init__(self, terminal: TextIO):
        self.terminal = terminal

    def write(self, text: str) -> int:
        self.terminal.write(visible(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.terminal, name)


def show_controls() -> None:
    """From now on standard output and standard error show control characters where they are terminals."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream.isatty() and not isinstance(stream, VisibleStream):
            setattr(sys, name, VisibleStream(stream))


def drawing_on(stream: TextIO) -> TextIO:
    """The terminal itself, for a progress bar, which moves the cursor. Its texts have to be `visible` already."""
    return stream.terminal if isinstance(stream, VisibleStream) else stream
