"""What --out may name: a page, or a figure; refused before the work where it could not be written."""

from __future__ import annotations

from pathlib import Path


def check_out(out: Path) -> None:
    """A page is FILE.html, a figure FILE.svg or FILE.png."""
    from chainrule.figures.files import check_figure

    check_figure(out, (".html",))
    if out.suffix == ".html":
        from chainrule.pages.page import check_built

        check_built()
