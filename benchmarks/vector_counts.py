"""Word vectors from counts of pairs, GloVe and PPMI: time, memory and quality of each setting.

    python benchmarks/vector_counts.py --data ../shared/data/novels95/train.txt.xz --tests ../shared/data/wordvec \
        glove "glove window=5 x_max=100" "ppmi shift=5 smoothing=1.0"

A setting is a method and its options; `window`, `epochs`, `alpha` and `seed` are the plan's. Every training is a
process of its own, on text in lower case, as in vectors.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measured import measured
from vectors import prepared, timed

from chainrule.cli.terminal.console import table
from chainrule.recipe.strict_yaml import load_yaml
from chainrule.text.corpora import open_corpus
from chainrule.text.options import TextOptions

SCORES = {"wordsim353.tsv": "spearman", "questions-words.txt": "accuracy", "simlex999.txt": "spearman"}
PLAN = {"dimension": 100, "window": 10, "epochs": 25, "alpha": 0.05, "seed": 1}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("settings", nargs="+", help='such as glove or "ppmi window=5 shift=5"')
    options.add_argument("--data", required=True, help="a text")
    options.add_argument("--tests", type=Path, required=True, help="a folder with " + ", ".join(SCORES))
    options.add_argument("--words", type=int, help="only the first so many words")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.work:
        print("RESULT " + json.dumps(work(given, given.settings[0])))
        return
    with tempfile.TemporaryDirectory(prefix="chainrule-bench-") as name:
        text = Path(name) / "text.txt"
        print(f"{prepared(given.data, given.words, text):,} words, {given.threads} threads", flush=True)
        rows = [[setting, *one_training(given, text, setting)] for setting in given.settings]
    table(["setting", "million pairs", "seconds", "CPU s", "peak MB", *SCORES], rows)


def one_training(given: Any, text: Path, setting: str) -> list[object]:
    cost = measured([sys.executable, __file__, setting, "--data", str(text), "--tests", str(given.tests), "--threads",
                     str(given.threads), "--work"],
                    env={"XDG_CACHE_HOME": str(text.parent / "cache"), "OMP_NUM_THREADS": str(given.threads)})
    found = json.loads(next(line for line in cost.output.splitlines() if line.startswith("RESULT "))[7:])
    print(json.dumps({"setting": setting, "peak_mb": cost.memory >> 20, **found}), flush=True)
    return [f"{found['pairs'] / 1e6:.1f}", f"{found['wall_s']:.1f}", f"{found['cpu_s']:.1f}", cost.memory >> 20,
            *(f"{found[name]:.4f}" for name in SCORES)]


def work(given: Any, setting: str) -> dict[str, Any]:
    """One training, without reading the text; its vectors are measured in the same process, after its time is taken."""
    from chainrule.recipe.registry import build
    from chainrule.vectors.evaluating import evaluate
    from chainrule.vectors.store import Vectors
    from chainrule.vectors.text import Source, read_text, spellings
    from chainrule.vectors.training_options import TrainingOptions

    name, *changes = setting.split()
    options = {key: load_yaml(value) for key, _, value in (change.partition("=") for change in changes)}
    plan = TrainingOptions(**{key: options.pop(key, value) for key, value in PLAN.items()}, threads=given.threads)
    trainer = build("text/tokenizers", {"name": "words", "min_count": 5})
    text = read_text(Source(open_corpus(given.data), trainer, TextOptions(), 0))
    method: Any = build("vectors/methods", {"name": name, **options})
    learned, wall, cpu = timed(lambda: method.learn(text, plan, None))
    vectors = Vectors(spellings(text.tokenizer), np.ascontiguousarray(learned.tensors["vectors"]))
    files = evaluate(vectors, [given.tests / name for name in SCORES])["files"]
    return {"wall_s": wall, "cpu_s": cpu, **learned.facts,
            **{name: round(files[str(given.tests / name)][key], 4) for name, key in SCORES.items()}}


if __name__ == "__main__":
    main()
