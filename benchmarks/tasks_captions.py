"""Captions of images on flickr8k-mini: an RNN that looks at a CNN's places, and a Transformer that looks at patches.

    python benchmarks/tasks_captions.py --data ../shared/data --seeds 3 --out captions.json [--quick]

Needs the folder flickr8k-mini with captions.tsv and images96.tar (800, 100 and 100 images with five captions each),
torch, Pillow and sacrebleu. Images are read where they lie in the .tar file. The model of the best evaluation on the
validation images is kept, and the test images are looked at once. The goal is the BLEU of the rule that gives each test
image the first caption of the training image with the nearest pixels; it is printed. Each run is also measured on test
captions whose images were exchanged: what it loses there, it had from looking. benchmarks/trials.py has the other
options.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from trials import Trial, main

from chainrule.evaluation.translations import translation_figures
from chainrule.inputs.captioned import Columns, open_captioned
from chainrule.recipe.registry import build
from chainrule.tasks._generated import References
from chainrule.text.options import TextOptions

QUICK = ("training.budget.steps=3",)
RECIPES = {"captioner": (), "captioner-transformer": ()}
ON_A_GPU = {"captioner": ("model.width=256", "training.budget.epochs=20", "training.batch=64"),
            "captioner-transformer": ("model.width=192", "training.budget.epochs=30", "training.batch=64")}


def trials(data: Path, work: Path, quick: bool) -> list[Trial]:
    import torch

    table, folder = (data / "flickr8k-mini" / "captions.tsv").resolve(), "images96.tar"
    goal = baseline(table, folder)
    tests = {"test": {"data": f"{table}:test"}, "exchanged": {"data": str(exchanged(table, work))}}
    larger = torch.cuda.is_available() and not quick
    return [Trial(recipe, recipe, f"{table}:train", tests, "bleu", goal,
                  (f"task.folder={table.parent / folder}", *(ON_A_GPU[recipe] if larger else own)),
                  valid=f"{table}:valid") for recipe, own in RECIPES.items()]


def baseline(table: Path, folder: str) -> float:
    """BLEU on the test images of the captions of their nearest neighbors, with its interval; it is printed."""
    columns, task = Columns(folder=folder), build("tasks", "captioning")
    train, test = (open_captioned(f"{table}:{part}", columns, TextOptions()) for part in ("train", "test"))
    held = References.of(test)
    for name, texts in task.rules(train, held).items():
        found = translation_figures(texts, held.targets, "13a", 1000)
        print(json.dumps({"name": name, **found}), flush=True)
    return found["bleu"]


def exchanged(table: Path, work: Path) -> Path:
    """The captions of the test images, each beside the next test image."""
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines() if line.startswith("test\t")]
    images = list(dict.fromkeys(image for _, image, _ in rows))
    other = dict(zip(images, [*images[1:], images[0]], strict=True))
    path = work / "exchanged.tsv"
    path.write_text("".join(f"{image}\t{caption}\n" for image, caption in
                            [("image", "caption"), *((other[image], caption) for _, image, caption in rows)]),
                    encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", trials, QUICK))
