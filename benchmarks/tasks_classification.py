"""Classification on MR (10 folds), SST-2, TREC and IMDB: Kim's network, own vectors, an encoder taken over.

    python benchmarks/tasks_classification.py --data ../shared/data --seeds 3 --out classification.json [--quick]
        [--vectors RUN | --write-text FILE]

Needs the folders mr, sst, trec, imdb, novels95 and wikitext-2, and torch. `lm` is a language model of IMDB's training
texts (without their labels), of novels and of WikiText-2; the classifiers called `from lm` begin with its encoder.
`--vectors` names a run of 300 word vectors for `kim-cnn`; they are learned from the same text, which `--write-text`
writes: chainrule train skipgram --data FILE --out RUN model.dimension=300. Test sets are looked at once, at the end; MR
is cross-validated as in Kim 2014, a tenth of each training part being validated on. benchmarks/trials.py has the other
options.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import random
import re
import sys
from functools import partial
from pathlib import Path

from trials import Trial, main

QUICK = ("training.budget.steps=3", "training.evaluate_every=3", "training.batch=8")
PRETRAINED = ("training.layer_decay=0.9", "training.optimizer=adamw", "training.optimizer.rate=0.0005",
              "training.optimizer.weight_decay=0.1", "training.schedule=linear", "training.schedule.warmup=0.1",
              "training.schedule.final=0.0", "training.budget.epochs=4", "training.precision=bfloat16",
              "model.dropout.rate=0.3")
LONGER = ("model.width=300", "training.budget.epochs=25", "training.patience=8")
LM = ("model.pattern=(sf)*6", "model.width=512", "model.context=256", "model.s.heads=8", "tokenizer.size=16000",
      "training.batch=128", "training.precision=bfloat16", "training.optimizer.rate=0.01", "model.dropout.rate=0.1",
      "training.budget.tokens=80e6")


def changed(changes: tuple[str, ...], *new: str) -> tuple[str, ...]:
    """Some changes of a recipe with others in their place."""
    paths = {each.partition("=")[0] for each in new}
    return (*(each for each in changes if each.partition("=")[0] not in paths), *new)


VARIANTS = {  # of Kim's network with random vectors, and of the encoder taken over: chosen by validation
    "random longer": ("kim-cnn", LONGER, None), "random averaged": ("kim-cnn", (*LONGER, "training.ema=0.995"), None),
    "random words whole": ("kim-cnn", (*LONGER, "model.dropout.input=0.0"), None),
    "random words whole averaged": ("kim-cnn", (*LONGER, "model.dropout.input=0.0", "training.ema=0.99"), None),
    "random few words out": ("kim-cnn", (*LONGER, "model.dropout.input=0.2", "training.ema=0.99"), None),
    "random more filters": ("kim-cnn", (*LONGER, "model.pooling.filters=300", "model.dropout.rate=0.6"), None),
    "from lm longer": ("transformer-classifier", ("model.from={after}", *changed(
        PRETRAINED, "training.budget.epochs=12")), "lm"),
    "from lm slower": ("transformer-classifier", ("model.from={after}", *changed(
        PRETRAINED, "training.budget.epochs=12", "training.optimizer.rate=0.0002")), "lm"),
}


def trials(data: Path, work: Path, quick: bool, vectors: str | None = None) -> list[Trial]:
    sets = {"mr": {"all": _mr(data / "mr")}, "sst": _sst(data / "sst"), "trec": _trec(data / "trec"),
            "imdb": _imdb(data / "imdb")}
    files = {name: {part: _written(work / f"{name}.{part}.csv", rows, quick) for part, rows in own.items()}
             for name, own in sets.items()}
    ways: list[tuple[str, str, tuple[str, ...], str | None, dict[str, float]]] = [
        ("random", "kim-cnn", (), None, {"mr": 0.765, "sst": 0.83, "trec": 0.915})]
    better = {"mr": 0.79, "sst": 0.85, "trec": 0.93, "imdb": 0.91}
    if vectors is not None:
        for channels in ("static", "tuned", "both"):
            table = f"model.embedding={{name: word_vectors, vectors: {vectors}, channels: {channels}}}"
            ways.append((f"vectors {channels}", "kim-cnn", (table, "model.width=300"), None, better))
        ways.append(("vectors longer", "kim-cnn", (table, *LONGER, "training.ema=0.995"), None, better))
    ways.append(("from lm", "transformer-classifier", ("model.from={after}", *PRETRAINED), "lm", better))
    found = []
    text = plain(data, work / "plain.txt", quick)
    found.append(Trial("lm", "transformer", text, {}, "bits_per_byte", changes=LM, once=True))
    found += [Trial(f"mr {way}", recipe, files["mr"]["all"], {}, "accuracy", goals["mr"], changes, folds=10,
                    after=after)
              for way, recipe, changes, after, goals in ways]
    ways += [(way, *own, better if own[-1] else ways[0][-1]) for way, own in VARIANTS.items()]
    for way, recipe, changes, after, goals in ways:
        found += [
            Trial(f"sst {way}", recipe, files["sst"]["train"], {"test": {"data": files["sst"]["test"]}}, "accuracy",
                  goals["sst"], changes, valid=files["sst"]["dev"], after=after),
            Trial(f"trec {way}", recipe, files["trec"]["train"], {"test": {"data": files["trec"]["test"]}}, "accuracy",
                  goals["trec"], (*changes, "split.valid=0.1"), after=after)]
    found.append(Trial("imdb from lm", "transformer-classifier", files["imdb"]["train"], {"test": {
        "data": files["imdb"]["test"]}}, "accuracy", better["imdb"], ("model.from={after}", *PRETRAINED,
                                                                      "model.context=512", "split.valid=0.04",
                                                                      "training.budget.epochs=3"), after="lm"))
    return found


def _mr(folder: Path) -> list[tuple[str, str]]:
    rows = [(label, line.strip()) for label in ("pos", "neg")
            for line in (folder / f"rt-polarity.{label}").read_text(encoding="utf-8").splitlines()]
    random.Random(0).shuffle(rows)
    return rows


def _sst(folder: Path) -> dict[str, list[tuple[str, str]]]:
    return {part: [tuple(line.split(" ", 1)) for line in (folder / f"stsa.binary.{part}").read_text(
        encoding="utf-8").splitlines()] for part in ("train", "dev", "test")}  # type: ignore[misc]


def _trec(folder: Path) -> dict[str, list[tuple[str, str]]]:
    found = {}
    for part in ("train", "test"):
        lines = (folder / f"TREC.{part}").read_text(encoding="utf-8").splitlines()
        found[part] = [(line.split(":")[0], line.split(" ", 1)[1]) for line in lines]
    random.Random(0).shuffle(found["train"])
    return found


def _imdb(folder: Path) -> dict[str, list[tuple[str, str]]]:
    return {part: [tuple(line.rstrip("\n").replace("<br />", " ").split("\t", 1)) for line in lzma.open(
        folder / f"{part}.tsv.xz", "rt", encoding="utf-8")] for part in ("train", "test")}  # type: ignore[misc]


def plain(data: Path, path: Path, quick: bool = False) -> str:
    """IMDB's training texts, novels and WikiText-2 in lower case with spaces around marks, as MR and SST have them."""
    import gzip

    with path.open("w", encoding="utf-8") as file:
        for _, text in _imdb(data / "imdb")["train"][:50 if quick else None]:
            file.write(_spaced(text) + "\n")
        if not quick:
            for name, opened in (("novels95/train.txt.xz", lzma.open), ("wikitext-2/train.txt.gz", gzip.open)):
                if (data / name).exists():
                    for line in opened(data / name, "rt", encoding="utf-8"):  # type: ignore[operator]
                        file.write(_spaced(line) + "\n")
    return str(path)


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"([.,!?;:()\"])", r" \1 ", text.lower())).strip()


def _written(path: Path, rows: list[tuple[str, str]], quick: bool) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "text"])
        writer.writerows((label, _spaced(text)) for label, text in (rows[:120] if quick else rows))
    return str(path)


if __name__ == "__main__":
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--vectors")
    options.add_argument("--write-text", type=Path)
    given, sys.argv[1:] = options.parse_known_args()
    if given.write_text is not None:
        folder = next((Path(value) for name, value in zip(sys.argv, sys.argv[1:], strict=False) if name == "--data"),
                      Path("../shared/data"))
        sys.exit(print(plain(folder, given.write_text)))
    sys.exit(main(__doc__ or "", partial(trials, vectors=given.vectors), QUICK))
