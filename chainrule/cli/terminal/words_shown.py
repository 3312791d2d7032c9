"""What `chainrule inspect` does with some words of word vectors: neighbors, similarities, and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.asked import Asked
from chainrule.cli.terminal.console import emit, say, table
from chainrule.errors import UsageError

NOTHING = ("there is nothing to look at. Name words, as in chainrule inspect RUN king queen, or draw all of them with "
           "--map.")
COLUMNS = 8  # words side by side in a table
TAKES, OF = ("--text", "--text-is", "--top"), "word vectors"


def look(asked: Asked) -> None:
    """What `inspect` shows of a run with this view."""
    if asked.out is not None and asked.out.suffix != ".html":
        raise UsageError(f"--out = {str(asked.out)!r}, expected a name that ends in .html.")
    for option in (name for name, value in (("--text", asked.text), ("--text-is", asked.text_is)) if value is not None):
        raise UsageError(f"{asked.run} holds word vectors; {option} needs a language model or a text classifier. Name "
                         "words instead, or draw --map.")
    show_words(asked.run, asked.what[1:], top=asked.top or 10, out=asked.out, json=asked.json)



def show_words(run: str, words: Sequence[str], *, top: int, out: Path | None, json: bool) -> None:
    """Each word's neighbors, and how alike the words are."""
    from chainrule.inspection.words import look_at_words

    if not words:
        raise UsageError(NOTHING)
    found = look_at_words(run, words, top=top) | {"run": run}
    if out is not None:
        from chainrule.pages.page import write_page

        named = ", ".join(each["word"] for each in found["words"])
        write_page(out, view="words", title=f"{named} in {run}", data=found)
        say(f"wrote {out}.")
    emit(found, json, _show)


def _show(found: dict[str, Any]) -> None:
    words = found["words"]
    for low in range(0, len(words), COLUMNS):
        some = words[low : low + COLUMNS]
        deepest = max(len(each["near"]) for each in some)
        table([each["word"] for each in some],
              [[f"{each['near'][n]['word']} {each['near'][n]['cosine']:.3f}" if n < len(each["near"]) else ""
                for each in some] for n in range(deepest)])
        print()
    if len(words) > 1:
        print("cosines")
        table(["", *(each["word"] for each in words)],
              [(each["word"], *(f"{value:.3f}" for value in row))
               for each, row in zip(words, found["similarity"], strict=True)])
