"""The frame of an ARPA file: its header, the titles and lengths of its sections, its end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chainrule.counting.arpa.lines import Lines
from chainrule.counting.arpa.parse import shown
from chainrule.counting.count import HIGHEST_ORDER

COUNT = re.compile(rb"ngram\s+(\d+)\s*=\s*(\d+)")


def read_header(lines: Lines) -> list[int]:
    """The number of n-grams of each order."""
    line = lines.filled_line()
    while line is not None and line.startswith(b"#"):
        line = lines.filled_line()
    if line != b"\\data\\":
        lines.fail(max(lines.number - 1, 1), f"{shown(line)}, expected \\data\\; this is not an ARPA file.")
    sizes: list[int] = []
    while line := lines.line():
        match = COUNT.fullmatch(line)
        if match is None or int(match[1]) != len(sizes) + 1:
            lines.fail(lines.number - 1,
                       f"{shown(line)}, expected 'ngram {len(sizes) + 1}=' and a number, or a blank line.")
        sizes.append(int(match[2]))
    if not sizes or sizes[0] == 0:
        lines.fail(lines.number - 1, "the header counts no 1-grams, expected a line such as 'ngram 1=5000'.")
    if len(sizes) > HIGHEST_ORDER:
        lines.fail(lines.number - 1, f"n-grams of order {len(sizes)}, expected at most {HIGHEST_ORDER}.")
    return sizes


def read_title(lines: Lines, n: int) -> int:
    """Reads the line that begins a section; the number of the first line after it."""
    line = lines.filled_line()
    if line != b"\\%d-grams:" % n:
        lines.fail(max(lines.number - 1, 1), f"{shown(line)}, expected \\{n}-grams:")
    return lines.number


def read_blocks(lines: Lines, n: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Blocks of a section with the number of their first line; as many lines as the header says."""
    done, number = 0, lines.number
    while block := lines.block():
        done += lines.number - number
        if done > size:
            lines.fail(lines.number - (done - size), f"more {n}-grams than the {size:,} that the header counts.")
        yield number, block
        number = lines.number
    if done < size:
        lines.fail(lines.number, f"the section ends after {done:,} {n}-grams, but the header counts {size:,}.")


def read_end(lines: Lines) -> None:
    line = lines.filled_line()
    if line != b"\\end\\":
        lines.fail(max(lines.number - 1, 1), f"{shown(line)}, expected \\end\\")
    if (line := lines.filled_line()) is not None:
        lines.fail(lines.number - 1, f"{shown(line)} after \\end\\, expected nothing.")
