"""What a notebook shows of an object: a title, facts, tables and figures as HTML without scripts.

Colors are the notebook's own, so that dark ones stay readable; figures bring their white paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chainrule.figures.drawing import Figure, plain

CELL = "padding:2px 10px 2px 0;text-align:{};border:0;border-bottom:1px solid rgba(128,128,128,.3)"


def card(title: str, *pieces: str | Figure) -> str:
    """Pieces of HTML, or figures, under a title."""
    body = "".join(each.svg() if isinstance(each, Figure) else each for each in pieces)
    return f'<div style="max-width:100%;overflow-x:auto"><p style="margin:4px 0"><b>{plain(title)}</b></p>{body}</div>'


def document(title: str, body: str) -> str:
    """A page of HTML by itself, without a script; it may show pictures that are in it, and fetches nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv='
            f'"Content-Security-Policy" content="{policy}">\n<meta name="viewport" content="width=device-width, '
            f'initial-scale=1">\n<title>{plain(title)}</title>\n</head>\n<body style="font-family:sans-serif">\n'
            f"{body}\n</body>\n</html>\n")


def facts(values: Mapping[str, object]) -> str:
    """Names and their values, in one table."""
    return table((), [(name, value) for name, value in values.items() if value not in (None, "")])


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Cells are text, whatever is in them; numbers are right-aligned."""
    top = "".join(f'<th style="{_style(text)}">{plain(text)}</th>' for text in head)
    body = "".join("<tr>" + "".join(f'<td style="{_style(cell)}">{plain(_shown(cell))}</td>' for cell in row) + "</tr>"
                   for row in rows)
    return (f'<table style="border-collapse:collapse;font-size:13px;margin:4px 0">'
            f'{f"<thead><tr>{top}</tr></thead>" if head else ""}<tbody>{body}</tbody></table>')


def line(text: str) -> str:
    """A sentence."""
    return f'<p style="margin:4px 0">{plain(text)}</p>'


def _style(cell: object) -> str:
    return CELL.format("right" if isinstance(cell, int | float) else "left")


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:,.4g}"
    return f"{cell:,}" if type(cell) is int else "–" if cell is None else str(cell)
