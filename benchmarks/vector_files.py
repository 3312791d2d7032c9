"""Files of word vectors beside gensim, in one run: seconds to write and to read, and to answer analogies.

    python benchmarks/vector_files.py --words 100000 --dimension 100

Both systems write and read the same random vectors, and take turns, so that a busy moment of the machine hits both
alike. Seconds are the median of the rounds; kernels are compiled before. Analogies are asked over all words, by 3CosAdd
in gensim and by 3CosAdd and 3CosMul here; half of them are made to be right, and both must find as many.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

from chainrule.cli.terminal.console import table
from chainrule.vectors.evaluations.analogies import Analogies
from chainrule.vectors.files.read_text import read_text
from chainrule.vectors.files.word2vec_binary import read_binary, write_binary
from chainrule.vectors.files.write_text import write_text
from chainrule.vectors.store import Vectors

Work = dict[str, tuple[Callable[[], Any], Callable[[], Any]]]  # ours and gensim's


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--words", type=int, default=100_000)
    options.add_argument("--dimension", type=int, default=100)
    options.add_argument("--questions", type=int, default=500)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--out", type=Path, help="a file for one JSON object a line")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(works(Path(folder), given.words, given.dimension, given.questions), given.rounds)
    table(["what", "chainrule", "gensim", "ratio"],
          [(row["what"], f"{row['chainrule']:.2f} s", f"{row['gensim']:.2f} s", f"{row['ratio']:.1f}") for row in rows])
    if given.out:
        given.out.write_text("".join(json.dumps(row) + "\n" for row in rows))


def works(folder: Path, words: int, dimension: int, questions: int) -> Work:
    """What is timed: the files are written before the first is read."""
    rng = np.random.default_rng(0)
    rows = rng.normal(scale=0.3, size=(words, dimension)).astype(np.float32)
    names = [f"word{number}" for number in range(words)]
    some = rng.choice(words, (questions, 4), replace=False)
    a, b, c, d = some[::2].T
    rows[d] = rows[b] - rows[a] + rows[c]  # every second question is right
    theirs = KeyedVectors(dimension)
    theirs.add_vectors(names, rows)
    ours = Vectors(names, rows)
    text, binary, asked = folder / "text", folder / "binary", folder / "questions"
    asked.write_text(": all\n" + "".join(" ".join(names[row] for row in each) + "\n" for each in some.tolist()))
    return {
        "write text": (lambda: write_text(text, names, rows, header=True),
                       lambda: theirs.save_word2vec_format(str(folder / "their text"))),
        "read text": (lambda: read_text(text, header=True), lambda: KeyedVectors.load_word2vec_format(str(text))),
        "write binary": (lambda: write_binary(binary, names, rows),
                         lambda: theirs.save_word2vec_format(str(folder / "their binary"), binary=True)),
        "read binary": (lambda: read_binary(binary),
                        lambda: KeyedVectors.load_word2vec_format(str(binary), binary=True)),
        f"{questions:,} analogies": (lambda: Analogies().measure(ours, asked)["correct"],
                                     lambda: len(theirs.evaluate_word_analogies(
                                         str(asked), restrict_vocab=words)[1][-1]["correct"])),
    }


def measured(work: Work, rounds: int) -> list[dict[str, Any]]:
    """The median of the rounds after one that is not counted."""
    rows = []
    for what, pair in work.items():
        seconds: list[list[float]] = [[], []]
        for number in range(rounds + 1):
            results = []
            for system, run in enumerate(pair):
                if number == 0 and system == 1:
                    continue  # only our kernels need a first time
                start = time.perf_counter()
                results.append(run())
                if number:
                    seconds[system].append(time.perf_counter() - start)
            if "analogies" in what and number:
                assert results[0] == results[1] > 0, f"right answers: {results}"
        ours, theirs = map(statistics.median, seconds)
        rows.append({"what": what, "chainrule": ours, "gensim": theirs, "ratio": theirs / ours})
    return rows


if __name__ == "__main__":
    main()
