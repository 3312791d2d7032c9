"""Tagging on UD English EWT (UPOS), NCBI disease and WNUT17: softmax, CRF, Transformer, with and without own vectors.

    python benchmarks/tasks_tagging.py --data ../shared/data --seeds 3 --out tagging.json [--quick] [--vectors RUN]

Needs the folders ud-english-ewt, ncbi-disease and wnut17, and torch. `--vectors` names a run or a file of word vectors,
such as one of `chainrule train skipgram`; words that training never had may have one. `hmm` counts and needs no torch.
Test sets are looked at once, at the end: what is kept is chosen on the development set. benchmarks/trials.py has the
other options.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from trials import Trial, main

QUICK = ("training.budget.steps=3", "training.evaluate_every=3", "training.batch=8")
LONG = ("training.budget.epochs=20", "model.width=400", "model.embedding.filters=128", "model.dropout.rate=0.4",
        "training.optimizer.rate=0.002")
ENTITIES = ("training.budget.epochs=20", "training.batch=16", "model.width=256", "model.dropout.rate=0.5",
            "training.optimizer.rate=0.002", "task.scheme=bioes")
TRANSFORMER = ("model.pattern=(sf)*4", "training.optimizer.rate=0.001", "training.schedule.warmup=0.1")
SETS = {"upos": ("ud-english-ewt", "en_ewt-ud-train.conllu.gz", "en_ewt-ud-dev.conllu.gz", "en_ewt-ud-test.conllu.gz"),
        "ncbi": ("ncbi-disease", "train.tsv.gz", "devel.tsv.gz", "test.tsv.gz"),
        "wnut": ("wnut17", "wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")}
GOALS = {"upos": 0.955, "ncbi": 0.82, "wnut": 0.35}


def trials(data: Path, work: Path, quick: bool, vectors: str | None = None) -> list[Trial]:
    found = []
    for name, (folder, train, dev, test) in SETS.items():
        files = [str(data / folder / file) for file in (train, dev, test)]
        measure, base = ("accuracy", LONG) if name == "upos" else ("f1", ENTITIES)
        ways: list[tuple[str, tuple[str, ...]]] = [
            ("softmax", ()), ("crf", ("model.head=crf",)), ("transformer crf", ("model.head=crf", *TRANSFORMER)),
            ("lstm characters crf", ("model.head=crf", "model.embedding=words_by_lstm"))]
        if vectors is not None:
            ways += [(f"{way} vectors", (*changes, f"task.inputs.vectors={vectors}")) for way, changes in ways]
            ways.append(("crf vectors averaged", (*ways[-3][1], "training.ema=0.998")))
        for way, changes in ways:
            own = tuple(each for each in base if "words_by_lstm" not in "".join(changes) or "filters" not in each)
            found.append(Trial(f"{name} {way}", "tagger", files[0], {"test": {"data": files[2]}}, measure, GOALS[name],
                               (*own, *changes), valid=files[1]))
    train, dev, test = (str(data / SETS["upos"][0] / file) for file in SETS["upos"][1:])
    found.append(Trial("upos hmm", "hmm-tagger", train, {"test": {"data": test}}, "accuracy", valid=dev))
    found.append(Trial("upos as the recipe is", "tagger", train, {"test": {"data": test}}, "accuracy", 0.93, valid=dev))
    return found


if __name__ == "__main__":
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--vectors")
    given, sys.argv[1:] = options.parse_known_args()
    sys.exit(main(__doc__ or "", partial(trials, vectors=given.vectors), QUICK))
