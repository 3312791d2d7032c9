"""Small real files to read, and the units of a corpus by the definition."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.opening import SourceCorpus
from chainrule.text.options import TextOptions

FOLDER = Path(tempfile.mkdtemp(prefix="chainrule-texts-"))


def corpus_of(data: bytes | str, **options: str) -> SourceCorpus:
    """A corpus of one text file that holds just this."""
    data = data if isinstance(data, bytes) else data.encode()
    path = FOLDER / hashlib.sha256(data).hexdigest()[:16] / "one.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return open_corpus(path, TextOptions(**options))


def text_of(corpus) -> bytes:
    return b"".join(chunk.data for chunk in corpus.chunks())


def lines_by_hand(text: str, keep_blank: bool = False) -> list[str]:
    """The lines of a text as units: the newline is not in them, blank ones are left out."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line for line in lines if keep_blank or line.strip("\0\t\v\f\r ")]


MEASURE = """
import sys, time
from chainrule.recipe.registry import build
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import fit_and_encode
from chainrule.text.options import TextOptions

def used():
    status = open("/proc/self/status").read()  # ru_maxrss would begin with the parent's
    return time.process_time(), int(status.split("VmHWM:")[1].split()[0]) / 1024

before = used()
_, encoded = fit_and_encode(open_corpus(sys.argv[1]), build("text/tokenizers", sys.argv[2]), TextOptions())
after = used()
print(len(encoded.ids), after[0] - before[0], after[1] - before[1])
"""


def measured(path: Path, tokenizer: str, cache: Path) -> tuple[float, float, float]:
    """Tokens, seconds of CPU and megabytes at most, of encoding a file in a process of its own."""
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path), tokenizer], capture_output=True, text=True,
                          check=True, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    tokens, seconds, megabytes = map(float, done.stdout.split())
    return tokens, seconds, megabytes
