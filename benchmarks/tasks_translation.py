"""Translation on Multi30k (en→de), Tatoeba (en→fr) and Tanaka (en→ja); headlines on AG News.

    python benchmarks/tasks_translation.py --data ../shared/data --seeds 3 --jobs 1 --out translation.json [--quick]

Needs the folders multi30k-en-de, tatoeba-en-fr, tanaka-en-ja and agnews-10k, torch, and sacrebleu. Test sets are
looked at once, at the end, with 5 beams. Goals are the issue's: sacreBLEU (13a, cased) on test 2016 of Multi30k.
benchmarks/trials.py has the other options.
"""

from __future__ import annotations

import gzip
import lzma
import random
import sys
from pathlib import Path

from trials import Trial, main

QUICK = ("training.budget.steps=3", "training.evaluate_every=3", "training.batch_tokens=512", "tokenizer.size=400")

AVERAGED = ("training.budget.epochs=36", "training.evaluate_every=400", "training.average=5")


def trials(data: Path, work: Path, quick: bool) -> list[Trial]:
    """Every recipe on Multi30k; the Transformer on the others; headlines with and without copying."""
    en, de = multi30k(data / "multi30k-en-de", work, quick)
    same = {"data": en["train"], "target": de["train"], "valid": en["val"], "valid_target": de["val"],
            "tests": {"test2016": {"data": en["test_2016_flickr"], "target": de["test_2016_flickr"]}},
            "measure": "bleu"}
    found = [
        Trial("multi30k transformer", "translation-transformer", goal=38, **same),
        Trial("multi30k transformer averaged", "translation-transformer", goal=38, changes=AVERAGED, **same),
        Trial("multi30k transformer wider", "translation-transformer", goal=38, changes=(
            *AVERAGED, "model.width=256", "model.f.hidden=512", "training.optimizer.rate=0.002",
            "model.embedding.deviation=0.06"), **same),
        Trial("multi30k attention-rnn", "attention-rnn", goal=33, **same),
        Trial("multi30k thought vector", "seq2seq", **same),
        Trial("multi30k thought vector forward", "seq2seq", changes=("task.reverse=false",), **same),
        Trial("multi30k convs2s", "convs2s", **same),
    ]
    fr = tatoeba(data / "tatoeba-en-fr", work, quick)
    found.append(Trial("tatoeba en-fr", "translation-transformer", fr["train"], {"test": {"data": fr["test"]}}, "bleu",
                       valid=fr["valid"], changes=("training.budget.epochs=8",)))
    ja, jb = tanaka(data / "tanaka-en-ja", work, quick)
    found.append(Trial("tanaka en-ja", "translation-transformer", ja["train"], {"test": {
        "data": ja["test"], "target": jb["test"]}}, "bleu", target=jb["train"], valid=ja["dev"], valid_target=jb["dev"],
        changes=("task.tokenize=none", "training.budget.epochs=20")))
    news = headlines(data / "agnews-10k", work, quick)
    for name, head in (("copying", "copying"), ("without copying", "tied")):
        found.append(Trial(f"headlines {name}", "headlines", news["train"], {"test": {"data": news["test"]}}, "rougeL",
                           valid=news["valid"], changes=(f"model.head={head}",)))
    return found


def multi30k(folder: Path, work: Path, quick: bool) -> tuple[dict[str, str], dict[str, str]]:
    found: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for part in ("train", "val", "test_2016_flickr"):
        for side, names in zip(("en", "de"), found, strict=True):
            with gzip.open(folder / f"{part}.{side}.gz", "rt", encoding="utf-8") as file:
                lines = file.read().splitlines()
            path = work / f"multi30k.{part}.{side}"
            path.write_text("\n".join(lines[:200] if quick else lines) + "\n", encoding="utf-8")
            names[part] = str(path)
    return found


def tatoeba(folder: Path, work: Path, quick: bool) -> dict[str, str]:
    return {part: _rows(_read(folder, part), work / f"tatoeba.{part}.tsv", 200 if quick else None)
            for part in ("train", "valid", "test")}


def tanaka(folder: Path, work: Path, quick: bool) -> tuple[dict[str, str], dict[str, str]]:
    found: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for part in ("train", "dev", "test"):
        for side, names in zip(("en", "ja"), found, strict=True):
            names[part] = _rows(_read(folder, part, side), work / f"tanaka.{part}.{side}", 200 if quick else None)
    return found


def headlines(folder: Path, work: Path, quick: bool) -> dict[str, str]:
    """`label<TAB>title . description`: the description is the source, the title its headline."""
    rows = {}
    for part in ("train", "test"):
        pairs = []
        for line in _read(folder, part):
            title, stop, rest = line.partition("\t")[2].partition(" . ")
            if stop and len(rest.split()) > 5:
                pairs.append(f"{rest.strip()}\t{title.strip()}")
        rows[part] = pairs
    random.Random(0).shuffle(rows["train"])
    parts = {"train": rows["train"][500:], "valid": rows["train"][:500], "test": rows["test"][:1000]}
    return {part: _rows(own, work / f"headlines.{part}.tsv", 100 if quick else None) for part, own in parts.items()}


def _read(folder: Path, part: str, side: str = "") -> list[str]:
    """The lines of the one file of a folder whose name has the part in it, and the side as an ending."""
    [path] = [each for each in sorted(folder.iterdir()) if part in each.name.split(".")[0]
              and (not side or f".{side}" in each.name) and not each.name.startswith(("_", "read"))]
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf-8") as file:  # type: ignore[operator]
        return file.read().splitlines()


def _rows(lines: list[str], path: Path, most: int | None) -> str:
    path.write_text("\n".join(lines[:most]) + "\n", encoding="utf-8")
    return str(path)


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", trials, QUICK))
