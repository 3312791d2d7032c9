"""Speech on the Free Spoken Digit Dataset: digits, and strings of digits written down by CTC and by attention.

    python benchmarks/tasks_speech.py --data ../shared/data --seeds 3 --out speech.json [--quick]

Needs the folder fsdd with recordings.tar.xz, and torch. The recordings 0 to 4 of each digit and speaker are the test,
all others are to train on. Strings have 1 to 7 digits by one speaker with a little silence between them, spelled as
words ("three one four"), 6,000 made of training recordings only and 1,000 of test recordings only (spoken_digits.py),
the same for all seeds. Recipes run for a number of steps that is fixed beforehand, without looking at the test, and the
last model is measured once. benchmarks/trials.py has the other options.
"""

from __future__ import annotations

import sys
from pathlib import Path

from spoken_digits import digits, strings
from trials import Trial, main

QUICK = ("training.budget.steps=3",)
STRINGS, QUICK_STRINGS = {"train": 6_000, "test": 1_000}, 8


def trials(data: Path, work: Path, quick: bool) -> list[Trial]:
    folders = digits(data / "fsdd" / "recordings.tar.xz", work / "digits")
    train, test = (strings(folder, work / f"strings-{part}", QUICK_STRINGS if quick else STRINGS[part], seed)
                   for seed, (part, folder) in enumerate(zip(STRINGS, folders, strict=True), start=1))

    def written(recipe: str, *changes: str, name: str = "") -> Trial:
        return Trial(name or recipe, recipe, str(train), {"test": {"data": str(test)}}, "wer", 0.05,
                     ("training.keep=0", *changes), lower=True)

    return [Trial("speech-classifier", "speech-classifier", str(folders[0]), {"test": {"data": str(folders[1])}},
                  "accuracy", 0.985, ("training.keep=0", "training.budget.steps=2100")),
            written("speech-ctc", "training.budget.steps=3000"),
            written("speech-attention", "training.budget.steps=4000", "tokenizer=words"),
            written("speech-attention", "training.budget.steps=8000", name="speech-attention, letters")]


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", trials, QUICK))
