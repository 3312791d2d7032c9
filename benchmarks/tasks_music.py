"""Music on the JSB chorales in quarter notes: an LSTM and a Transformer over piano rolls, a Transformer over events.

    python benchmarks/tasks_music.py --data ../shared/data --seeds 3 --out music.json [--quick]

Needs the folder jsb-chorales and torch. All train on the 229 chorales for training, the model of the best evaluation
on the 76 for validation is kept, and the 77 test chorales are looked at once, at the end. The measure is the frame NLL
over all frames, in nats; `frame_nll_after_first` leaves out the first frame of each piece, as Bai et al. 2018 do.
Nothing is transposed but where a trial's name says so. Where there is a GPU the networks are larger and train longer
(ON_A_GPU); on a CPU the recipes run as they are shipped. benchmarks/trials.py has the other options.
"""

from __future__ import annotations

import sys
from pathlib import Path

from trials import Trial, main

QUICK = ("training.budget.steps=3", "training.batch=4")
TRIALS: dict[str, float | None] = {"music-rnn": 8.1, "roll-transformer": 8.1, "music-transformer": 8.1}
TRANSPOSED = ("task.transpose=5",)  # training pieces moved by up to five semitones, at random in each epoch
ON_A_GPU = {
    "music-rnn": ("model.width=600", "training.budget.epochs=60"),
    "roll-transformer": ("model.width=256", "training.budget.epochs=120"),
    "music-transformer": ("model.width=192", "training.budget.epochs=60"),
    "music-rnn transposed": ("model.width=600", "training.budget.epochs=150", *TRANSPOSED),
    "roll-transformer transposed": ("model.width=256", "model.dropout.rate=0.3", "training.budget.epochs=300",
                                    *TRANSPOSED),
}


def trials(data: Path, work: Path, quick: bool) -> list[Trial]:
    import torch

    chorales = data / "jsb-chorales" / "jsb-chorales-quarter.json.gz"
    larger = torch.cuda.is_available() and not quick
    transposed = {f"{recipe} transposed": (recipe, 8.1) for recipe in ("music-rnn", "roll-transformer")}
    wanted = {recipe: (recipe, goal) for recipe, goal in TRIALS.items()} | transposed
    return [Trial(name, recipe, f"{chorales}:train", {"test": {"data": f"{chorales}:test"}}, "frame_nll", goal,
                  ON_A_GPU[name] if larger else TRANSPOSED if name in transposed else (), valid=f"{chorales}:valid",
                  lower=True) for name, (recipe, goal) in wanted.items()]


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", trials, QUICK))
