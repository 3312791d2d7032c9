"""Text classifiers beside fastText, all in one run with the same settings: speed, memory, accuracy, quantized size.

    python benchmarks/classifier.py --data ../shared/data

Every system trains in a process of its own; they take turns, so that a busy moment of the machine hits all alike. Both
read the same `__label__` files, in another order for each seed. Seconds are from the file to the trained model in
memory, reading included, with kernels compiled before; wall and memory are the whole process's, with evaluation.
Quantization keeps 100,000 features at most, and is not followed by more training.

    python benchmarks/classifier.py --data ../shared/data --whole

measures small texts, 9,595 sentences and 9,999 short news: processor seconds of whole processes, from the start of
Python to the saved model, where starting costs more than the work. Each system trains once before, so that kernels are
compiled.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from measured import measured

from chainrule.cli.terminal.console import table
from chainrule.text.corpora.packing import open_stream

SETS = {"agnews-10k": ("train.tsv.gz", "test.tsv.gz", 0.5), "imdb": ("train.tsv.xz", "test.tsv.xz", 0.1)}  # and lr
SYSTEMS = ("chainrule", "fastText")
EPOCHS, DIMENSION, CUTOFF = 5, 100, 100_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, help="the folder with agnews-10k and imdb")
    options.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    options.add_argument("--word-ngrams", type=int, nargs="+", default=[1, 2])
    options.add_argument("--loss", default="softmax", choices=["softmax", "hierarchical_softmax"])
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--quantize", action="store_true", help="also the size and accuracy of a quantized model")
    options.add_argument("--work", nargs=4, metavar=("SYSTEM", "SET", "NGRAMS", "SEED"), help=argparse.SUPPRESS)
    options.add_argument("--whole", action="store_true", help="whole processes on small texts (mr) instead")
    given = options.parse_args()
    if given.whole:
        whole(given)
        return
    if given.work:
        print("RESULT " + json.dumps(work(given, *given.work)))
        return
    with tempfile.TemporaryDirectory(prefix="chainrule-bench-") as name:
        for each in given.sets:
            prepared(given.data / each, each, Path(name))
        for each in given.sets:
            for ngrams in given.word_ngrams:
                rows = []
                for seed in range(1, given.seeds + 1):
                    shuffle(Path(name) / f"{each}.train.txt", seed)
                    rows += [one_training(given, Path(name), system, each, ngrams, seed) for system in SYSTEMS]
                summary(each, ngrams, rows)


PEER = """
import sys
import fasttext
net = fasttext.train_supervised(sys.argv[1], dim=100, lr=0.5, epoch=5, thread=int(sys.argv[3]), verbose=0)
net.save_model(sys.argv[2])
"""


def whole(given: Any) -> None:
    """Rounds of both systems in turn; the ratio of each round is ours over fastText's."""
    with tempfile.TemporaryDirectory(prefix="chainrule-bench-") as name:
        for texts in (sentences(given.data / "mr", Path(name)), news(given.data, Path(name))):
            costs: dict[str, list[Any]] = {system: [] for system in SYSTEMS}
            for number in range(given.seeds + 1):
                for system in SYSTEMS:
                    out = str(Path(name) / f"{texts.stem}-{system}-{number}")
                    commands = {"chainrule": ["-m", "chainrule", "train", "text-classifier", "--data", str(texts),
                                              "--out", out, f"training.epochs={EPOCHS}", "training.patience=null",
                                              f"training.threads={given.threads}"],
                                "fastText": ["-c", PEER, str(texts), out, str(given.threads)]}
                    cost = measured([sys.executable, *commands[system]], env={"OMP_NUM_THREADS": "1"})
                    costs[system] += [cost] * (number > 0)  # the first round compiles
            ratios = [a.cpu / b.cpu for a, b in zip(*costs.values(), strict=True)]
            table([f"{texts.stem}, whole process", "CPU s", "peak MB"],
                  [(system, f"{np.median([each.cpu for each in rounds]):.2f}",
                    f"{max(each.memory for each in rounds) >> 20:,}") for system, rounds in costs.items()])
            print(f"chainrule / fastText: median {np.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}\n")


def sentences(folder: Path, out: Path) -> Path:
    """Nine tenths of the sentences of mr, in a random order."""
    lines = [f"__label__{label} {line}" for label in ("pos", "neg")
             for line in (folder / f"rt-polarity.{label}").read_text(encoding="utf-8").splitlines(keepends=True)]
    random.Random(0).shuffle(lines)
    (out / "mr.txt").write_text("".join(lines[: len(lines) * 9 // 10]), encoding="utf-8")
    return out / "mr.txt"


def news(data: Path, out: Path) -> Path:
    """The texts of agnews-10k."""
    prepared(data / "agnews-10k", "agnews-10k", out)
    return out / "agnews-10k.train.txt"


def prepared(folder: Path, name: str, out: Path) -> None:
    """`__label__x text` a line from `x<tab>text`."""
    for source, part in zip(SETS[name][:2], ("train", "test"), strict=True):
        with open_stream(folder / source) as stream, (out / f"{name}.{part}.txt").open("wb") as file:
            for line in stream.read().splitlines():
                label, _, text = line.partition(b"\t")
                file.write(b"__label__" + label + b" " + text + b"\n")


def shuffle(path: Path, seed: int) -> None:
    """Another order for each seed, the same for all systems: accuracy depends on it more than on a seed."""
    lines = sorted(path.read_bytes().splitlines(keepends=True))
    random.Random(seed).shuffle(lines)
    path.write_bytes(b"".join(lines))


def one_training(given: Any, folder: Path, system: str, name: str, ngrams: int, seed: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--data", str(folder), "--threads", str(given.threads), "--loss", given.loss,
               *["--quantize"] * given.quantize, "--work", system, name, str(ngrams), str(seed)]
    cost = measured(command, env={"OMP_NUM_THREADS": "1"})
    found = json.loads(next(line for line in cost.output.splitlines() if line.startswith("RESULT "))[7:])
    row = {"system": system, "set": name, "word_ngrams": ngrams, "seed": seed, **found,
           "wall_s": round(cost.wall, 2), "peak_mb": cost.memory >> 20}
    print(json.dumps(row), flush=True)
    return row


def work(given: Any, system: str, name: str, ngrams: str, seed: str) -> dict[str, Any]:
    train = {"chainrule": ours, "fastText": fasttext}[system]
    files = [str(Path(given.data) / f"{name}.{part}.txt") for part in ("train", "test")]
    return train(files, SETS[name][2], int(ngrams), int(seed), given)


def ours(files: list[str], lr: float, ngrams: int, seed: int, given: Any) -> dict[str, Any]:
    import chainrule
    from chainrule.families.text_classifier import TextClassifierFamily as Family
    from chainrule.jobs import Job
    from chainrule.recipe.recipe import load_recipe
    from chainrule.text.corpora import open_corpus
    from chainrule.verbs.train import finish

    recipe = load_recipe("text-classifier", [
        f"model.dimension={DIMENSION}", f"model.word_ngrams={ngrams}", f"model.loss={given.loss}", f"training.lr={lr}",
        f"training.epochs={EPOCHS}", "training.patience=null", f"training.threads={given.threads}", f"seed={seed}"])
    place = Path(tempfile.mkdtemp(dir=Path(files[0]).parent))
    (place / "few.txt").write_text("__label__x one two\n__label__y three four\n", encoding="utf-8")
    Family.train(Job(recipe, open_corpus(place / "few.txt"), None, place))  # loads the kernels
    job = Job(recipe, open_corpus(files[0]), None, place)
    trained, wall, cpu = timed(lambda: Family.train(job))
    finish(job, trained, place / "run", force=False)
    del trained
    run = chainrule.load(place / "run")
    chainrule.evaluate(run, files[1])  # loads the kernels
    score, test, _ = timed(lambda: chainrule.evaluate(run, files[1]))
    found = {"words": run.report["words"] * EPOCHS, "train_s": wall, "cpu_s": cpu,
             "learning_s": job.seconds["training"], "test_s": test, "accuracy": score["accuracy"]}
    if given.quantize:
        done, found["quantize_s"], _ = timed(lambda: chainrule.quantize(run, place / "small", cutoff=CUTOFF))
        found |= {"full_mb": done["bytes_before"] / 1e6, "small_mb": done["bytes"] / 1e6}
        found["small_accuracy"] = chainrule.evaluate(place / "small", files[1])["accuracy"]
    shutil.rmtree(place)
    return found


def fasttext(files: list[str], lr: float, ngrams: int, seed: int, given: Any) -> dict[str, Any]:
    """Its seed cannot be set from Python; two threads make every training another."""
    import fasttext

    loss = {"softmax": "softmax", "hierarchical_softmax": "hs"}[given.loss]
    net, wall, cpu = timed(lambda: fasttext.train_supervised(
        files[0], dim=DIMENSION, wordNgrams=ngrams, lr=lr, epoch=EPOCHS, loss=loss, thread=given.threads, verbose=0))
    with open(files[0], "rb") as file:
        words = sum(len(line.split()) - 1 for line in file)
    (_, precision, _), test, _ = timed(lambda: net.test(files[1]))
    found = {"words": words * EPOCHS, "train_s": wall, "cpu_s": cpu, "test_s": test, "accuracy": precision}
    if given.quantize:
        place = Path(tempfile.mkdtemp(dir=Path(files[0]).parent))
        net.save_model(str(place / "model.bin"))
        _, found["quantize_s"], _ = timed(lambda: net.quantize(qnorm=True, cutoff=CUTOFF, retrain=False, verbose=0))
        net.save_model(str(place / "model.ftz"))
        found["full_mb"] = (place / "model.bin").stat().st_size / 1e6
        found["small_mb"] = (place / "model.ftz").stat().st_size / 1e6
        found["small_accuracy"] = net.test(files[1])[1]
        shutil.rmtree(place)
    return found


def timed(job: Any) -> tuple[Any, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = job()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def summary(name: str, ngrams: int, rows: list[dict[str, Any]]) -> None:
    """Means and standard errors over the seeds; ratios are of the rounds, each with its peer beside it."""
    shown = []
    peer = [row for row in rows if row["system"] == "fastText"]
    for system in SYSTEMS:
        mine = [row for row in rows if row["system"] == system]
        line: list[object] = [system]
        for key in ("train_s", "cpu_s", "test_s"):
            ratios = [b[key] / a[key] for a, b in zip(mine, peer, strict=True)]
            line += [f"{np.mean([row[key] for row in mine]):.2f}", f"{np.mean(ratios):.2f}"]
        line.append(f"{max(row['peak_mb'] for row in mine):,}")
        for key in ("accuracy", "small_accuracy"):
            values = [row[key] for row in mine if key in row]
            error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else float("nan")
            line.append(f"{np.mean(values):.4f} ± {error:.4f}" if values else "-")
        line.append(f"{np.mean([row['small_mb'] for row in mine]):.2f}" if "small_mb" in mine[0] else "-")
        shown.append(line)
    print()
    table([f"{name}, {ngrams}-grams", "train s", "times", "CPU s", "times", "test s", "times", "peak MB", "accuracy",
           "quantized", "MB"], shown)
    print(flush=True)


if __name__ == "__main__":
    main()
