"""Puts what the commands really print into the documents: `python tests/docs/refresh.py [--slow] docs/ngrams.md ...`.

Lines of doctests are not changed: pytest says what they should be.
"""

import os
import sys
import tempfile
from pathlib import Path

from documents import DATA, matches, play, pydoc_digest


def refresh(path: Path, *, slow: bool) -> None:
    """Rewrites the shown lines of each command that prints something else; `…` stays where it still matches."""
    steps: dict = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if slow:
            Path("data").symlink_to(DATA)
        for block, command, shown, printed in play(path, Path(folder), slow=slow):
            same = matches(shown, printed)
            steps.setdefault(block, []).append((command, shown if same else printed))
            if not same:
                print(f"{path.name}:{block.line}: $ {command}")
        os.chdir("/")
    text = path.read_text(encoding="utf-8")
    for block, pairs in steps.items():
        new = "".join("\n".join(["$ " + command.replace("\n", "\n> "), *lines, ""]) for command, lines in pairs)
        text = text.replace(f"\n{block.text}```", f"\n{new}```", 1)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    print(f"PYDOC = {pydoc_digest()!r}")
    for path in [Path(name).resolve() for name in sys.argv[1:] if name != "--slow"]:
        refresh(path, slow="--slow" in sys.argv)
