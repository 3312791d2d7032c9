"""The project's documents as tests see them: blocks of commands with the output they show, and blocks of Python.

A block that begins with ```console is run, line by line: `$ ` is a command, `> ` goes on with it (a here-document), all
else is what it prints, standard error included. In the output a line `…` stands for any lines, `…` inside a line for
any text, and how many seconds something took may differ. Words after `console` say more:

    exit=2   the last command of the block ends with this exit code; all others end with 0
    pydoc    the output depends on the text of a built-in corpus, which differs from one Python to the next: it is
             compared on the Python that the documents were made with, elsewhere only the exit codes are
    slow     needs the public data sets in ../shared/data, as `data/`: only run with `pytest -m slow`

A block that begins with ```python is run too, as a doctest where it has `>>>`; one document's blocks share their names,
and `pydoc` after `python` means the same. A block of any language with `file=NAME` is written to that file instead.

The first command of a document that starts `chainrule` starts the installed one. To import torch some hundreds of times
would take longer than all else: the other commands run in copies of a Python that has done so (tests/warm_python.py).
"""

import doctest
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import warm_python

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PYDOC = "6061bdb5e47e53fb"  # of Python 3.11.7; `python tests/docs/refresh.py` says the present one
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIMES = re.compile(r"^(seconds +).*| \d+\.\d$")  # a line of seconds, or a last column of them

# what is printed only where something takes more than some seconds: `reading, after 12 s.`, `lstm: 40% of …`
SLOW = re.compile(r"chainrule: (.* after \d+ s\.?|\[?\d+[/ of]+\d+\]?.*: (\d+% of|[\d,]+ s of|trained, ).*)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words after it, its text, and the line it begins at."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int

    def exit_code(self) -> int:
        return int(self._said("exit=") or 0)

    def file(self) -> str | None:
        return self._said("file=")

    def _said(self, what: str) -> str | None:
        return next((word.removeprefix(what) for word in self.words if word.startswith(what)), None)

    def steps(self) -> list[tuple[str, list[str]]]:
        """Each command of a console block with the lines it is shown to print."""
        found: list[tuple[str, list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.startswith("> ") and not found[-1][1]:
                found[-1] = (f"{found[-1][0]}\n{line[2:]}", [])
            else:
                found[-1][1].append(line)
        return found


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [Block(found[1], tuple(found[2].split()), found[3], text.count("\n", 0, found.start()) + 1)
            for found in FENCE.finditer(text)]


def pydoc_digest() -> str:
    from pydoc_data.topics import topics

    return hashlib.sha256(repr(sorted(topics.items())).encode()).hexdigest()[:16]


SAME_PYDOC = pydoc_digest() == PYDOC


def ran(command: str, folder: Path, *, warm: bool = True) -> tuple[int, list[str]]:
    """Exit code and lines of a command, as a person in that folder would see them."""
    programs = warm_python.programs() if warm else Path(sys.executable).parent
    environment = warm_python.environment(PYTHONUNBUFFERED="1", COLUMNS="80",
                                          PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, encoding="utf-8",
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=600)
    return done.returncode, [line.rstrip() for line in done.stdout.splitlines()]


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether the output is as shown, `…` and times apart."""
    pattern = "".join(r"(?:.*\n)*" if line == "…" else
                      ".*".join(map(re.escape, timeless(line).split("…"))) + r"\n" for line in shown)
    told = [line for line in printed if line in shown or not SLOW.fullmatch(line)]
    return re.fullmatch(pattern, "".join(timeless(line) + "\n" for line in told)) is not None


def timeless(line: str) -> str:
    return TIMES.sub(lambda found: (found[1] or " ") + "#", line.rstrip())


def play(path: Path, folder: Path, *, slow: bool = False) -> Iterator[tuple[Block, str, list[str], list[str]]]:
    """Runs a document's blocks in order; gives each command's block, text, shown and printed lines."""
    names: dict[str, object] = {"__name__": "__main__"}
    warm = False
    for block in blocks(path):
        if name := block.file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_python(block, path.name, names)
        if block.language != "console" or ("slow" in block.words and not slow):
            continue
        steps = block.steps()
        for number, (command, shown) in enumerate(steps, start=1):
            code, printed = ran(command, folder, warm=warm)
            warm = warm or "chainrule" in command
            expected = block.exit_code() if number == len(steps) else 0
            assert code == expected, f"{path.name}:{block.line}: exit code {code}\n$ {command}\n" + "\n".join(printed)
            yield block, command, shown, printed


class AnyOutput(doctest.OutputChecker):
    """Examples must run, whatever they print."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return True


def run_python(block: Block, name: str, names: dict[str, object]) -> None:
    """In this process, whose folder must be the document's."""
    if ">>> " not in block.text:
        exec(compile("\n" * block.line + block.text, name, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, name, name, block.line)
    report: list[str] = []
    checker = AnyOutput() if "pydoc" in block.words and not SAME_PYDOC else None
    runner = doctest.DocTestRunner(checker, verbose=False, optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert not report, "".join(report)
