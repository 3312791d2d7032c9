"""Several figures as one file: a page of HTML, or one below the other as SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chainrule.figures.cards import card, document
from chainrule.figures.drawing import Figure, stacked
from chainrule.figures.files import write_figure
from chainrule.storage.files import created


def write_card(path: Path, title: str, figures: Sequence[Figure], tables: Sequence[str] = ()) -> None:
    """By the ending of the name: .html, where each figure has its table after it if there are any, .svg or .png."""
    if path.suffix != ".html":
        write_figure(path, stacked(list(figures), title))
        return
    pieces = [piece for pair in zip(figures, tables, strict=True) for piece in pair] if tables else figures
    with created(path) as write:
        write(document(title, card(title, *pieces)).encode())
