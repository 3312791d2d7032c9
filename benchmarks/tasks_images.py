"""Images as sequences on MNIST: a CNN, a vision Transformer, a row-by-row LSTM, and a model of pixels.

    python benchmarks/tasks_images.py --data ../shared/data --seeds 3 --out images.json [--quick]

Needs the folder mnist with its four IDX files, torch, and of the extras Pillow for `pixel-lm`, which makes the images
smaller. Every recipe trains on all 60,000 training images for a fixed number of epochs, and the 10,000 test images are
looked at once, at the end. Where there is a GPU the networks are larger and train longer (ON_A_GPU); on a CPU the
recipes run as they are shipped. benchmarks/trials.py has the other options.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from trials import Trial, main

from chainrule.inputs.image_arrays import images_of, labels_beside, labels_of, write_idx

QUICK = ("training.budget.steps=3", "training.batch=16")
GOALS = {"image-cnn": 0.994, "vit": 0.987, "image-rnn": 0.985, "pixel-lm": None}
ON_A_GPU = {
    "image-cnn": ("model.width=160", "model.embedding.channels=[40,80]", "training.budget.epochs=12",
                  "training.batch=256"),
    "vit": ("model.width=128", "model.pattern=(sf)*6", "training.budget.epochs=20", "training.batch=256",
            "training.optimizer.rate=0.001", "training.precision=bfloat16"),
    "image-rnn": ("model.width=256", "training.budget.epochs=15", "training.batch=256",
                  "training.optimizer.rate=0.002"),
    "pixel-lm": ("model.width=256", "model.pattern=(sf)*6", "training.budget.epochs=12", "training.batch=128",
                 "training.precision=bfloat16"),
}


def trials(data: Path, work: Path, quick: bool) -> list[Trial]:
    import torch

    files = [data / "mnist" / f"{part}-images-idx3-ubyte.gz" for part in ("train", "t10k")]
    train, test = (_first(path, work) for path in files) if quick else map(str, files)
    larger = torch.cuda.is_available() and not quick
    return [Trial(recipe, recipe, train, {"test": {"data": test}}, "bits_per_pixel" if goal is None else "accuracy",
                  goal, ON_A_GPU[recipe] if larger else (), lower=goal is None, more={"bootstrap": 0})
            for recipe, goal in GOALS.items()]


def _first(path: Path, work: Path, count: int = 500) -> str:
    """So many images of a file, and their labels, in a folder of their own."""
    beside = labels_beside(path)
    assert beside is not None
    write_idx(work / path.stem, images_of(path)[:count, :, :, 0])
    write_idx(work / beside.stem, np.array(labels_of(beside)[:count]))
    return str(work / path.stem)


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", trials, QUICK))
