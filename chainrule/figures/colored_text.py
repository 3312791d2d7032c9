"""A text whose pieces have a color behind them, line by line in letters of one width."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from chainrule.figures.drawing import INK, MONO, SOFT, WIDTH, Figure, cut, heading, mixed, plain, words

Piece = tuple[str, str, float]  # text, color, strength from 0 to 1
SIZE, LETTER, LINE, LEFT = 13, 7.85, 22, 16  # pixels: of the font, its letters, a line and the margin
COLUMNS = int((WIDTH - 2 * LEFT) / LETTER)


def colored_text(title: str, caption: str, pieces: Sequence[Piece], legend: Mapping[str, str] | None = None) -> Figure:
    """The pieces in order; a line end ends the line, and a piece that is too long goes on in the next."""
    marks, top = [heading(title), words(LEFT, 40, cut(caption, 120), color=SOFT)], 58
    for n, (name, color) in enumerate((legend or {}).items()):
        marks.append(f'<rect x="{LEFT}" y="{top - 9}" width="12" height="10" fill="{color}"/>\n'
                     + words(LEFT + 20, top, cut(name, 100)))
        top += 18 if n < len(legend or {}) - 1 else 24
    row, column = 0, 0
    for text, color, strength in pieces:
        for part in _lines(text):
            if part == "\n":
                row, column = row + 1, 0
                continue
            for piece in _fitted(part, column):
                if column + _wide(piece) > COLUMNS and column:
                    row, column = row + 1, 0
                marks.append(_piece(piece, LEFT + column * LETTER, top + row * LINE, color, strength))
                column += _wide(piece)
    return Figure(title, WIDTH, top + (row + 1) * LINE + 8, "".join(marks))


def _lines(text: str) -> list[str]:
    """`a↵`, a line end, `b`: the sign shows where the end was predicted."""
    found = []
    for n, part in enumerate(text.replace("\r", "␍").replace("\t", "    ").split("\n")):
        found += [*(["↵", "\n"] if n else []), *([part] if part else [])]
    return found


def _fitted(text: str, column: int) -> list[str]:
    """The text in pieces that fit in a line."""
    found, here = [""], column if column + _wide(text) > COLUMNS >= column and _wide(text) > COLUMNS else 0
    for letter in text:
        if _wide(found[-1]) + _wide(letter) > COLUMNS - here:
            found.append("")
            here = 0
        found[-1] += letter
    return found


def _piece(text: str, x: float, y: float, color: str, strength: float) -> str:
    wide = _wide(text) * LETTER
    behind = (f'<rect x="{x:.1f}" y="{y - 1:.1f}" width="{wide:.1f}" height="{LINE - 3}" '
              f'fill="{mixed(color, strength)}"/>' if strength > 0.005 else "")
    return (f'{behind}<text x="{x:.1f}" y="{y + 13:.1f}" font-family="{MONO}" font-size="{SIZE}" fill="{INK}" '
            f'textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">{plain(text)}</text>\n')


def _wide(text: str) -> int:
    """Columns: Chinese, Japanese and Korean letters take two."""
    return sum(0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
               for each in text)
