"""Excerpts of the held-out text for the report: prompts to continue, and passages shown token by token."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 20_000  # bytes of text that the report shows, about
PASSAGES = 10
PROMPTS = 3
LONGEST = 48  # characters of a prompt
TITLE = 60  # characters that name a document


def prompts(texts: Sequence[bytes]) -> tuple[str, ...]:
    """The first words of a few documents; where there are few, of lines in them."""
    starts = [text.decode() for text in texts]
    if len(starts) < PROMPTS:
        starts = [line for text in starts for line in text.split("\n") if len(line.split()) >= 3] or starts
    found = dict.fromkeys(_words(starts[i]) for i in spread(len(starts), PROMPTS))
    return tuple(prompt for prompt in found if prompt)


def passages(texts: Sequence[bytes]) -> tuple[tuple[int, int], ...]:
    """(document, bytes of its beginning): a few documents, evenly spread, SHOWN bytes in all."""
    chosen = spread(len(texts), PASSAGES)
    return tuple((i, min(len(texts[i]), SHOWN // len(chosen))) for i in chosen)


def title(text: bytes) -> str:
    """The first words of a document."""
    words = " ".join(text[: 8 * TITLE].decode(errors="ignore").split())
    return words if len(words) <= TITLE else f"{words[:TITLE].rsplit(' ', 1)[0]} …"


def spread(count: int, wanted: int) -> list[int]:
    """So many of the numbers below `count`, evenly spread, from the first on."""
    return sorted({i * count // min(count, wanted) for i in range(min(count, wanted))})


def _words(text: str) -> str:
    line = next((line for line in text.split("\n") if len(line.split()) >= 3), text)
    short = " ".join(line.split()[:5])
    return short if len(short) <= LONGEST else short[:LONGEST].rsplit(" ", 1)[0]
