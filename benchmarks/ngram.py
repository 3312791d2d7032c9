"""n-gram models beside their peers, all in one run: estimation, memory, size, opening and queries.

    python benchmarks/ngram.py --data ../shared/data/novels95/train.txt.xz --words 10_000_000 --kenlm ../kenlm

Peers: the `kenlm` module (queries), NLTK's `lm` (a small text), IRSTLM when it is installed, and KenLM's own programs
(lmplz, build_binary, query), which run in turn with ours: installed ones, or those in the folder given by --kenlm,
where KenLM was built as its file BUILDING says (on Debian it needs build-essential cmake libboost-system-dev
libboost-thread-dev libboost-program-options-dev libboost-test-dev zlib1g-dev libbz2-dev liblzma-dev).
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from kenlm_programs import Beside, found
from measured import Cost, measured

import chainrule
from chainrule import threads
from chainrule.cli.terminal.console import table
from chainrule.text.corpora import open_corpus
from chainrule.text.options import TextOptions

SMALL = 100_000  # words for NLTK, which keeps Python objects for every n-gram
QUERIES = 2_000_000  # words scored
LARGE = 20_000_000  # bytes of text; IRSTLM would take many minutes for more


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", required=True, help="a text; its first --words words are counted")
    options.add_argument("--words", type=int, default=10_000_000)
    options.add_argument("--order", type=int, default=5)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--kenlm", help="a folder with KenLM's programs, or with bin/ or build/bin/ that has them")
    options.add_argument("--score", action="append", default=[], help="other texts that both programs score")
    options.add_argument("--only-programs", action="store_true", help="whole processes beside KenLM's, nothing else")
    given = options.parse_args()
    programs = found(given.kenlm)
    with tempfile.TemporaryDirectory(prefix="chainrule-bench-") as name:
        folder = Path(name)
        text, held_out = prepared(given.data, given.words, folder)
        size = text.stat().st_size / 1e6
        print(f"{given.words:,} words, {size:.0f} MB, order {given.order}, {threads.cores()} cores\n")
        if programs:
            beside(Beside(programs, text, given.order, folder), given.score, given.rounds)
        if given.only_programs:
            return
        estimation(text, given.order, folder)  # processes first: a large parent would count as its children's memory
        small(text, folder)
        opening(folder / "default")
        queries(folder / "default", held_out, given.rounds, folder)


def beside(programs: Beside, texts: list[str], rounds: int) -> None:
    """Whole processes: KenLM's programs and ours."""
    programs.estimation(rounds)
    for text in [programs.text, *map(Path, texts)]:
        programs.queries(text, rounds)
    programs.start_up(2 * rounds)


def prepared(data: str, words: int, folder: Path) -> tuple[Path, list[str]]:
    """A file of the first so many words, and lines after them to score."""
    lines = _lines(data)
    text, seen = folder / "text.txt", 0
    with text.open("w", encoding="utf-8") as out:
        for line in lines:
            out.write(line + "\n")
            seen += len(line.split())
            if seen >= words:
                break
    held_out, seen = [], 0
    for line in itertools.chain(lines, _lines(data)):  # a text of just so many words is scored from its beginning
        held_out.append(line)
        seen += len(line.split())
        if seen >= QUERIES:
            return text, held_out
    sys.exit(f"{data} has fewer than {QUERIES:,} words")


def _lines(data: str) -> Iterator[str]:
    rest = b""
    for chunk in open_corpus(data, TextOptions()).chunks():
        *whole, rest = (rest + chunk.data).split(b"\n")
        yield from (line.decode() for line in whole if line.strip())


def estimation(text: Path, order: int, folder: Path) -> None:
    """Text in, saved model out that can be queried at once; every run with an empty cache of encoded text."""
    rows = []
    for name, extra in (("default", []), ("memory", ["model.memory=500M"]), ("compact", ["model.compact=true"])):
        command = [sys.executable, "-m", "chainrule", "train", "ngram", "--data", str(text),
                   "--out", str(folder / name), "--force", f"model.order={order}", *extra]
        cost = measured(command, env={"XDG_CACHE_HOME": str(folder / f"cache-{name}")})
        rows.append(_row(f"chainrule {' '.join(extra)}", cost, folder / name / "model.safetensors", rows))
    if shutil.which("irstlm") and text.stat().st_size < LARGE:
        rows.append(_row("irstlm build-lm, improved Kneser-Ney, 2 pieces", *_irstlm(text, order, folder), rows))
    table(["estimation", "wall s", "CPU s", "peak MB", "model MB", "wall ratio"], rows)
    print()


def _irstlm(text: Path, order: int, folder: Path) -> tuple[Cost, Path]:
    marked, out = folder / "marked.txt", folder / "irstlm.gz"
    with text.open(encoding="utf-8") as lines, marked.open("w", encoding="utf-8") as file:
        file.writelines(f"<s> {line.strip()} </s>\n" for line in lines)
    cost = measured(["irstlm", "build-lm", "-i", str(marked), "-n", str(order), "-o", str(out), "-k", "2",
                     "-s", "improved-kneser-ney", "-t", str(folder / "irstlm-tmp")],
                    env={"IRSTLM": "/usr/lib/irstlm"})
    return cost, out


def _row(name: str, cost: Cost, model: Path, rows: list[tuple]) -> tuple:
    first = float(rows[0][1]) if rows else cost.wall
    return (name.strip(), f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{cost.memory / 1e6:.0f}",
            f"{model.stat().st_size / 1e6:.0f}", f"{cost.wall / first:.2f}")


def opening(run: Path) -> None:
    took = []
    for _ in range(5):
        began = time.perf_counter()
        chainrule.load(run)
        took.append(time.perf_counter() - began)
    size = (run / "model.safetensors").stat().st_size / 1e6
    print(f"opening the {size:.0f} MB model: {min(took):.3f} s (first time in this process {took[0]:.3f} s)\n")


def queries(run: Path, lines: list[str], rounds: int, folder: Path) -> None:
    """The same held-out sentences for all; the best of several rounds of each, taken in turn."""
    loaded = chainrule.load(run)
    ids = loaded.tokenizer.encode_lines(lines)
    contenders: dict[str, Callable[[], float]] = {
        "chainrule, from text, all cores": lambda: float(chainrule.score(loaded, lines).sum()),
        "chainrule, from ids, all cores": lambda: float(loaded.model.score_units(ids).sum(dtype=np.float64)),
        "chainrule, from ids, one thread": lambda: _on_one_core(lambda: loaded.model.score_units(ids)),
    }
    compact = chainrule.load(folder / "compact")
    contenders["chainrule compact, from ids, one thread"] = lambda: _on_one_core(lambda: compact.model.score_units(ids))
    contenders |= _kenlm(run, lines, folder)
    best, used, total = dict.fromkeys(contenders, float("inf")), dict.fromkeys(contenders, float("inf")), {}
    for turn in range(rounds + 1):  # the first warms up: kernels, caches
        for name, work in contenders.items():
            began, worked = time.perf_counter(), time.process_time()
            total[name] = work()
            if turn:
                best[name] = min(best[name], time.perf_counter() - began)
                used[name] = min(used[name], time.process_time() - worked)
    peer = "kenlm module, score()"
    rows = [(name, f"{len(ids) / best[name] / 1e6:.2f}", f"{len(ids) / used[name] / 1e6:.2f}",
             f"{used[peer] / used[name]:.2f}" if peer in used else "", f"{total[name]:.1f}") for name in best]
    table(["queries", "M tokens/s", "M tokens/CPU s", "times kenlm's score() by CPU", "ln p"], rows)
    print()


def _on_one_core(work: Callable[[], np.ndarray]) -> float:
    all_cores, threads.cores = threads.cores, lambda: 1
    try:
        return float(work().sum(dtype=np.float64))
    finally:
        threads.cores = all_cores


def _kenlm(run: Path, lines: list[str], folder: Path) -> dict[str, Callable[[], float]]:
    try:
        import kenlm
    except ImportError:
        print("the kenlm module is not installed: no peer for queries")
        return {}
    arpa = folder / "model.arpa"
    cost = measured([sys.executable, "-m", "chainrule", "export", str(run), "--to", "arpa", str(arpa)])
    size = arpa.stat().st_size / 1e6
    print(f"exporting ARPA: {cost.wall:.1f} s, {cost.memory / 1e6:.0f} MB of memory, a file of {size:.0f} MB")
    began = time.perf_counter()
    model = kenlm.Model(str(arpa))
    print(f"kenlm reads it into its probing table in {time.perf_counter() - began:.1f} s\n")
    return {"kenlm module, score()": lambda: sum(model.score(line) for line in lines) * float(np.log(10))}


def small(text: Path, folder: Path) -> None:
    """NLTK beside ours on a text that it can hold."""
    words, sentences = 0, []
    with text.open(encoding="utf-8") as file:
        for line in file:
            sentences.append(line.split())
            words += len(sentences[-1])
            if words >= SMALL:
                break
    little = folder / "little.txt"
    little.write_text("\n".join(map(" ".join, sentences)) + "\n", encoding="utf-8")
    ours = measured([sys.executable, "-m", "chainrule", "train", "ngram", "--data", str(little), "--out",
                     str(folder / "little"), "model.order=3", "model.smoothing=kneser_ney"],
                    env={"XDG_CACHE_HOME": str(folder / "cache-little")})
    theirs = measured([sys.executable, __file__, str(little)], env={"BENCHMARK_NLTK": "1"})
    table([f"{words:,} words, order 3", "wall s", "CPU s", "peak MB"],
          [("chainrule train, whole process", f"{ours.wall:.2f}", f"{ours.cpu:.2f}", f"{ours.memory / 1e6:.0f}"),
           ("NLTK KneserNeyInterpolated.fit, whole process", f"{theirs.wall:.2f}", f"{theirs.cpu:.2f}",
            f"{theirs.memory / 1e6:.0f}")])
    print(theirs.output.strip())
    loaded = chainrule.load(folder / "little")
    lines = [" ".join(sentence) for sentence in sentences]
    began = time.perf_counter()
    chainrule.score(loaded, lines)
    print(f"chainrule scores {words / (time.perf_counter() - began):,.0f} words/s, the first time it is asked\n")


def nltk_alone(path: str) -> None:
    """In a process of its own, so that its memory can be measured."""
    from nltk.lm import KneserNeyInterpolated
    from nltk.lm.preprocessing import pad_both_ends, padded_everygram_pipeline

    sentences = [line.split() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    model = KneserNeyInterpolated(3)
    model.fit(*padded_everygram_pipeline(3, sentences))
    began, asked = time.perf_counter(), 0
    for sentence in sentences[:2]:
        padded = list(pad_both_ends(sentence, 3))
        for i in range(2, len(padded)):
            model.score(padded[i], padded[i - 2:i])
            asked += 1
    print(f"NLTK scores {asked / (time.perf_counter() - began):,.0f} words/s")


if __name__ == "__main__":
    nltk_alone(sys.argv[1]) if os.environ.get("BENCHMARK_NLTK") else main()
