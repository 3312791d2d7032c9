"""A figure as a file: SVG by itself, PNG by way of the small package resvg-py."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

from chainrule.errors import ChainruleError, OptionError, UsageError
from chainrule.figures.drawing import Figure
from chainrule.storage.files import created

ENDINGS = (".svg", ".png")
SCALE = 2  # pixels of a PNG for one of the SVG: sharp on paper and on fine screens
SVG = "http://www.w3.org/2000/svg"
SANS_FONTS = ("DejaVu Sans", "Liberation Sans", "Noto Sans", "Segoe UI", "Helvetica Neue", "Helvetica", "Arial",
              "Roboto", "Ubuntu", "Cantarell", "Verdana", "FreeSans")  # those with many letters first
MONO_FONTS = ("DejaVu Sans Mono", "Liberation Mono", "Noto Sans Mono", "Menlo", "Consolas", "SF Mono", "Courier New",
              "Ubuntu Mono", "FreeMono")
INSTALL = "PNG files are drawn by resvg-py. Install it with: pip install 'chainrule[png]'"


def check_figure(path: Path, other: tuple[str, ...] = ()) -> None:
    """Refuses an ending that cannot be written; call it before the work."""
    if path.suffix not in (*ENDINGS, *other):
        *most, last = (*other, *ENDINGS)
        raise UsageError(f"--out = {str(path)!r}, expected a name that ends in {', '.join(most)} or {last}.")
    if path.suffix == ".png" and importlib.util.find_spec("resvg_py") is None:
        raise OptionError("--out", str(path), "a name that ends in .svg", INSTALL)


def write_figure(path: Path, figure: Figure | str) -> None:
    """Writes an SVG or PNG file, all of it or nothing."""
    check_figure(path)
    text = figure if isinstance(figure, str) else figure.svg()
    data = text.encode() if path.suffix == ".svg" else png(text)
    with created(path) as write:
        write(data)


def png(svg: str) -> bytes:
    """The picture in pixels, with the fonts of this machine."""
    import resvg_py

    sans, mono = _installed(SANS_FONTS), _installed((*MONO_FONTS, *SANS_FONTS))
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=SCALE, sans_serif_family=sans, monospace_family=mono))


@cache
def _installed(families: tuple[str, ...]) -> str:
    """The first of these fonts that this machine has: resvg leaves text without a font out in silence."""
    import resvg_py

    def drawn(family: str) -> bytes:
        letter = f'<text x="2" y="18" font-family="{family}">A</text>'
        return bytes(resvg_py.svg_to_bytes(svg_string=f'<svg xmlns="{SVG}" width="24" height="24">{letter}</svg>'))

    nothing = drawn("no font of this name")
    for family in families:
        if drawn(family) != nothing:
            return family
    raise ChainruleError(f"PNG files need a font, and none of {', '.join(families)} is installed. Install one (Debian: "
                         "apt install fonts-dejavu-core), or write FILE.svg.")
