"""Word vectors beside gensim and fastText, all in one run with the same settings: speed, memory and quality.

    python benchmarks/vectors.py --data ../shared/data/novels95/train.txt.xz --tests ../shared/data/wordvec

Every system trains in a process of its own; they take turns, so that a busy moment of the machine hits all alike. The
text is made lower case and cut into words of letters first, once for all. Words/s are of training alone, without
reading the text or compiling; seconds and memory are the whole process's.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from measured import measured

from chainrule.cli.terminal.console import table
from chainrule.text.corpora import open_corpus
from chainrule.text.options import TextOptions

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
PEER = {"skipgram": "gensim", "cbow": "gensim", "fasttext": "fastText"}
SETTINGS: dict[str, Any] = {"dimension": 100, "window": 5, "negative": 5, "min_count": 5, "sample": 1e-3}
ALPHA = {"skipgram": 0.025, "cbow": 0.05, "fasttext": 0.025}  # as in the word2vec program, for all alike
SCORES = {"wordsim353.tsv": "spearman", "questions-words.txt": "accuracy"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", required=True, help="a text")
    options.add_argument("--tests", type=Path, help="a folder with wordsim353.tsv and questions-words.txt")
    options.add_argument("--models", nargs="+", default=list(PEER), choices=list(PEER))
    options.add_argument("--words", type=int, help="only the first so many words")
    options.add_argument("--epochs", type=int, default=5)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--out", type=Path, help="a file that gets a JSON line for each training")
    options.add_argument("--work", nargs=3, metavar=("SYSTEM", "MODEL", "SEED"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.work:
        print("RESULT " + json.dumps(work(given, *given.work)))
        return
    with tempfile.TemporaryDirectory(prefix="chainrule-bench-") as name:
        text = Path(name) / "text.txt"
        words = prepared(given.data, given.words, text)
        print(f"{words:,} words, {given.epochs} epochs, {given.threads} threads, {SETTINGS}\n", flush=True)
        rows = [one_training(given, text, system, model, seed) for seed in range(1, given.seeds + 1)
                for model in given.models for system in ("chainrule", PEER[model])]
    for model in given.models:
        summary(model, [row for row in rows if row["model"] == model])


def prepared(data: str, limit: int | None, out: Path) -> int:
    """Lower case, letters and inner apostrophes; a line stays a line."""
    count, rest = 0, b""
    with out.open("w", encoding="utf-8") as file:
        for chunk in open_corpus(data, TextOptions()).chunks():
            *lines, rest = (rest + chunk.data).split(b"\n")
            for line in lines:
                words = WORD.findall(line.decode().lower().replace("’", "'"))
                if words:
                    file.write(" ".join(words) + "\n")
                    count += len(words)
                if limit is not None and count >= limit:
                    return count
    return count


def one_training(given: Any, text: Path, system: str, model: str, seed: int) -> dict[str, Any]:
    """A process of its own; its vectors are measured here."""
    command = [sys.executable, __file__, "--data", str(text), "--epochs", str(given.epochs), "--threads",
               str(given.threads), "--work", system, model, str(seed)]
    cost = measured(command, env={"XDG_CACHE_HOME": str(text.parent / "cache"), "OMP_NUM_THREADS": "1"})
    found = json.loads(next(line for line in cost.output.splitlines() if line.startswith("RESULT "))[7:])
    row = {**found, "system": system, "model": model, "seed": seed, "wall_s": round(cost.wall, 2),
           "peak_mb": cost.memory >> 20}
    if given.tests is not None:
        row |= measured_on(given.tests, text.parent / f"{system}.npy")
    line = json.dumps(row)
    print(line, flush=True)
    if given.out is not None:
        with given.out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    return row


def measured_on(tests: Path, path: Path) -> dict[str, float]:
    from chainrule.vectors.evaluating import evaluate
    from chainrule.vectors.store import Vectors

    words = path.with_suffix(".txt").read_text(encoding="utf-8").split("\n")
    files = evaluate(Vectors(words, np.load(path)), [tests / name for name in SCORES])["files"]
    return {name: round(files[str(tests / name)][key], 4) for name, key in SCORES.items()}


def work(given: Any, system: str, model: str, seed: str) -> dict[str, float]:
    """Trains one system on the prepared text, and saves its vectors beside it."""
    train = {"chainrule": ours, "gensim": gensim, "fastText": fasttext}[system]
    words, table, count, wall, cpu = train(Path(given.data), model, int(seed), given.epochs, given.threads)
    place = Path(given.data).parent / f"{system}.npy"
    np.save(place, table)
    place.with_suffix(".txt").write_text("\n".join(words), encoding="utf-8")
    return {"words": count, "words_per_s": round(count / wall), "words_per_cpu_s": round(count / cpu)}


def ours(path: Path, model: str, seed: int, epochs: int, threads: int) -> tuple[Any, ...]:
    from chainrule.recipe.registry import build
    from chainrule.vectors.text import Source, read_text, spellings
    from chainrule.vectors.training_options import TrainingOptions
    from chainrule.vectors.windows import CHUNK

    trainer = build("text/tokenizers", {"name": "words", "min_count": SETTINGS["min_count"]})
    text = read_text(Source(open_corpus(path), trainer, TextOptions(), seed))
    method = build("vectors/methods", {"name": model, "negative": SETTINGS["negative"]})
    plan = {"dimension": SETTINGS["dimension"], "window": SETTINGS["window"], "alpha": ALPHA[model],
            "sample": SETTINGS["sample"], "threads": threads, "seed": seed}
    few = type(text)(text.ids[:CHUNK], text.tokenizer, text.row_of, text.counts)
    method.learn(few, TrainingOptions(**plan, epochs=1), None)  # loads the kernels
    found, wall, cpu = timed(lambda: method.learn(text, TrainingOptions(**plan, epochs=epochs), None))
    return spellings(text.tokenizer), found.tensors["vectors"], text.tokens * epochs, wall, cpu


def gensim(path: Path, model: str, seed: int, epochs: int, threads: int) -> tuple[Any, ...]:
    from gensim.models import Word2Vec

    net = Word2Vec(vector_size=SETTINGS["dimension"], window=SETTINGS["window"], min_count=SETTINGS["min_count"],
                   sample=SETTINGS["sample"], negative=SETTINGS["negative"], alpha=ALPHA[model],
                   sg=int(model == "skipgram"), workers=threads, seed=seed, epochs=epochs)
    net.build_vocab(corpus_file=str(path))
    _, wall, cpu = timed(lambda: net.train(corpus_file=str(path), total_words=net.corpus_total_words,
                                           total_examples=net.corpus_count, epochs=epochs))
    count = sum(net.wv.get_vecattr(word, "count") for word in net.wv.index_to_key) * epochs
    return net.wv.index_to_key, net.wv.vectors, int(count), wall, cpu


def fasttext(path: Path, model: str, seed: int, epochs: int, threads: int) -> tuple[Any, ...]:
    """Its time includes reading the vocabulary, and its seed is always 0: its Python module cannot say otherwise."""
    import fasttext

    net, wall, cpu = timed(lambda: fasttext.train_unsupervised(
        str(path), model="skipgram", dim=SETTINGS["dimension"], ws=SETTINGS["window"], neg=SETTINGS["negative"],
        minCount=SETTINGS["min_count"], t=SETTINGS["sample"], lr=ALPHA[model], minn=3, maxn=6, bucket=2_000_000,
        epoch=epochs, thread=threads, verbose=0))
    words, counts = net.get_words(include_freq=True)
    kept = [(word, int(count)) for word, count in zip(words, counts, strict=True) if word != "</s>"]
    table = np.stack([net.get_word_vector(word) for word, _ in kept])
    return [word for word, _ in kept], table, sum(count for _, count in kept) * epochs, wall, cpu


def timed(job: Any) -> tuple[Any, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = job()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def summary(model: str, rows: list[dict[str, Any]]) -> None:
    """Means and standard errors over the seeds; ratios are of the rounds, each with its peer beside it."""
    shown = []
    for system in ("chainrule", PEER[model]):
        mine = [row for row in rows if row["system"] == system]
        peer = [row for row in rows if row["system"] == PEER[model]]
        line: list[object] = [system]
        for key in ("words_per_s", "words_per_cpu_s"):
            ratios = [a[key] / b[key] for a, b in zip(mine, peer, strict=True)]
            line += [f"{np.mean([row[key] for row in mine]):,.0f}", f"{np.mean(ratios):.2f}"]
        line += [f"{np.mean([row['wall_s'] for row in mine]):.1f}", f"{max(row['peak_mb'] for row in mine):,}"]
        for name in SCORES:
            values = [row[name] for row in mine if name in row]
            error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else float("nan")
            line.append(f"{np.mean(values):.4f} ± {error:.4f}" if values else "-")
        shown.append(line)
    print()
    table([model, "words/s", "ratio", "words/CPU s", "ratio", "seconds", "peak MB", "WordSim-353", "analogies"], shown)


if __name__ == "__main__":
    main()
