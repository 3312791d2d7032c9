"""What every figure is made of: a picture with a size, text that XML can hold, and the colors of the pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
PAPER, INK, SOFT, LINE, SUNK = "#ffffff", "#1d2026", "#5b616b", "#e2dfd9", "#f4f2ee"
ABOVE, BELOW, HEAT = "#cf6a1c", "#2f7fb8", "#08519c"  # of a color scale: more than expected, less, and much
SERIES = ("#0072b2", "#d55e00", "#009e73", "#b75d95", "#c98500", "#3f9bd6", "#7a5230", "#6f6bb5")
# Okabe & Ito's, which people with color blindness can distinguish, made darker for thin lines, as on the pages
MUTE = "#9a9da3"
WIDTH, GAP = 760, 24  # pixels: of a figure, and between two of them
LETTER = 0.56  # of the font's size: the mean width of a letter
UNPRINTED = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"} | {
    0x7F: "␡", 0xFFFE: "�", 0xFFFF: "�"}  # what XML cannot hold is drawn as a sign


@dataclass(frozen=True)
class Figure:
    """A picture; a notebook shows it as it is."""

    title: str
    width: float
    height: float
    body: str

    def svg(self) -> str:
        """One SVG file, on white paper: it can be read on dark screens too."""
        size = f"{self.width:.0f} {self.height:.0f}"
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{self.width:.0f}" '
                f'height="{self.height:.0f}" font-family="{SANS}" font-size="12" role="img">\n'
                f"<title>{plain(self.title)}</title>\n"
                f'<rect width="{self.width:.0f}" height="{self.height:.0f}" fill="{PAPER}"/>\n{self.body}</svg>\n')

    def _repr_svg_(self) -> str:
        return self.svg()


def stacked(figures: Sequence[Figure], title: str) -> Figure:
    """Figures one below the other, as one."""
    pieces, down = [], 0.0
    for figure in figures:
        pieces.append(f'<g transform="translate(0 {down:.0f})">\n{figure.body}</g>\n')
        down += figure.height + GAP
    return Figure(title, max((each.width for each in figures), default=WIDTH), max(down - GAP, 1), "".join(pieces))


def plain(text: str) -> str:
    """Text of any corpus as XML can hold it: escaped, and without characters that end a document."""
    whole = str(text).encode("utf-8", "replace").decode("utf-8")
    return escape(whole.translate(UNPRINTED))


def words(x: float, y: float, text: str, *, size: float = 12, anchor: str = "start", color: str = INK, more: str = ""
          ) -> str:
    """A line of text; `more` are further attributes."""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" fill="{color}"{more}>'
            f"{plain(text)}</text>\n")


def heading(text: str, *, left: float = 16, width: float = WIDTH) -> str:
    """The title of a figure, cut where it has no room."""
    return words(left, 22, cut(text, int((width - left - 8) / (15 * LETTER))), size=15, more=' font-weight="600"')


def cut(text: str, most: int) -> str:
    """A text of at most so many letters."""
    return text if len(text) <= most else f"{text[:max(1, most - 1)]}…"


def cut_inside(text: str, most: int) -> str:
    """The same, with both ends kept: names of models often differ at their end."""
    half = most // 2
    return text if len(text) <= most else f"{text[:most - half - 1]}…{text[-half:]}"


def mixed(color: str, share: float, paper: str = PAPER) -> str:
    """A color on paper: `share` 0 is the paper, 1 the color. Written out, so that every program draws the same."""
    share = min(1.0, max(0.0, share))
    pairs = zip(_channels(paper), _channels(color), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in pairs)


def colors(names: Sequence[str]) -> Mapping[str, str]:
    """A color for each name, in their order."""
    return {name: SERIES[n % len(SERIES)] for n, name in enumerate(names)}


def _channels(color: str) -> list[int]:
    return [int(color[n:n + 2], 16) for n in (1, 3, 5)]
