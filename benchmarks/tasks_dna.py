"""Bits per base of DNA: the genome of E. coli 536, whose last tenth is held out.

    python benchmarks/tasks_dna.py --data ../shared/data --seeds 1 --out dna.json [--quick]

Needs the folder dna with ecoli536_NC_008253.fna.gz and, for the network, torch. The first nine tenths are trained on,
and a tenth of them, in stretches of 8,192 bases, is set aside to choose by. Every base of the last tenth counts, and
the mark at its end too: bits_per_base of `chainrule evaluate`. Counting has no seed, so the trials of n-grams are the
same for all of them. benchmarks/trials.py has the other options.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from trials import Trial, main

GENOME = "ecoli536_NC_008253.fna.gz"
GOAL = 1.94  # 2 bits are what four bases take when nothing is known about them
SHARE = 10  # one of so many parts is held out
LINE = 70
QUICK = ("model.order=4",)
SINGLE = ("text.reverse_complement=false",)
NETWORK = ("tokenizer=characters", "text.reverse_complement=true", "split.valid=0.02", "model.width=256",
           "model.context=256", "training.batch=64", "training.budget.epochs=2")
MIXED = ("model.order=12", "model.order=20")


def trials(data: Path, work: Path, quick: bool) -> list[Trial]:
    train, test = _parts(data / "dna" / GENOME, work, 200_000 if quick else None)
    tests = {"test": {"data": test}}
    found = [Trial("dna", "dna", train, tests, "bits_per_base", GOAL, (), lower=True),
             Trial("dna, one strand", "dna", train, tests, "bits_per_base", GOAL, SINGLE, lower=True)]
    found += [Trial(f"dna, {each}", "dna", train, tests, "bits_per_base", GOAL, (each, "model.memory=6G"), lower=True)
              for each in MIXED]
    kneser_ney = ("tokenizer=characters", "text.reverse_complement=true", "model.order=8", "model.memory=3G")
    found.append(Trial("modified Kneser-Ney, order 8", "ngram", train, tests, "bits_per_base", GOAL, kneser_ney,
                       lower=True))
    if not quick:
        found.append(Trial("gru", "gru", train, tests, "bits_per_base", GOAL, NETWORK, lower=True))
    return found


def _parts(genome: Path, work: Path, most: int | None) -> tuple[str, str]:
    """The first nine tenths and the last, each a FASTA file."""
    with gzip.open(genome, "rt") as stream:
        bases = "".join(line.strip() for line in stream if not line.startswith(">"))[:most]
    cut = len(bases) - len(bases) // SHARE
    paths = work / "train.fna", work / "test.fna"
    for path, own in zip(paths, (bases[:cut], bases[cut:]), strict=True):
        rows = [own[n:n + LINE] for n in range(0, len(own), LINE)]
        path.write_text("\n".join([f">{genome.name}, {path.stem}", *rows]) + "\n")
    return str(paths[0]), str(paths[1])


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", trials, QUICK))
