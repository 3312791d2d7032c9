"""One training in a process of its own: `python -m chainrule.experiments.trial TASK.json`.

Its memory is its own, so that a lack of it ends one row and not all. It tells how far it is in lines of JSON on
standard output; what the library says goes to standard error.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chainrule.errors import ChainruleError, DataError

OUT_OF_MEMORY = "out of memory. Try a smaller model or batch, or less text."
EVERY = 0.5  # seconds between two lines about a training


def main(path: str) -> int:
    """0 when the result is written; otherwise a line on standard output says why not."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        perform(json.loads(Path(path).read_text(encoding="utf-8")))
    except ChainruleError as error:
        tell({"failed": " ".join(str(error).split())})
    except MemoryError:
        tell({"failed": OUT_OF_MEMORY})
    except RuntimeError as error:  # torch has no exception of its own for this on a CPU
        if "memory" not in str(error):
            raise
        tell({"failed": OUT_OF_MEMORY})
    else:
        return 0
    return 1


def tell(facts: Mapping[str, Any]) -> None:
    """To the process that asked; when that is gone, training ends after its step, and can be resumed."""
    try:
        print(json.dumps(facts), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        os.kill(os.getpid(), signal.SIGTERM)


class _Now:
    """Tells how far training is, now and then."""

    def __init__(self) -> None:
        self.told = 0.0

    def __call__(self, facts: Mapping[str, Any]) -> None:
        if time.monotonic() - self.told >= EVERY:
            self.told = time.monotonic()
            tell({name: facts[name] for name in ("progress", "step", "bits_per_byte")})


def perform(task: Mapping[str, Any]) -> None:
    """Trains unless that is done, then measures."""
    from chainrule.experiments.holdout import Source
    from chainrule.experiments.measuring import measure
    from chainrule.recipe.recipe import make_recipe
    from chainrule.runs import load
    from chainrule.verbs.train import train

    text, held_out = Source(**task["source"]).halves()
    recipe, out = make_recipe(task["recipe"]), Path(task["run"])
    corpus, valid = validation(recipe, text, held_out)
    if not is_trained(out, recipe, corpus, valid):
        train(recipe, corpus, out, valid=valid, force=True, show=_Now(), measure=False)
    tell({"stage": "measuring"})
    measure(load(out), held_out, task)


def is_trained(out: Path, recipe: Any, corpus: Any, valid: Any) -> bool:
    """Whether there is a run of this recipe on this text, by this version."""
    from chainrule import __version__
    from chainrule.recipe.recipe import load_recipe
    from chainrule.storage import open_run

    try:
        folder = open_run(out)
        report, made_by = (json.loads(folder.file(name).read_text(encoding="utf-8"))
                           for name in ("report.json", "environment.json"))
        same = load_recipe(folder.file("recipe.yaml")) == recipe
    except (ChainruleError, OSError, ValueError):
        return False
    texts = {name: each.fingerprint()[:16] for name, each in (("train", corpus), ("valid", valid)) if each is not None}
    return same and report.get("data") == texts and made_by.get("chainrule") == __version__


def validation(recipe: Any, train: Any, held_out: Any) -> tuple[Any, Any]:
    """What is trained on and validated on: curves are drawn on the held-out text, nothing is chosen by it.

    A recipe that learns from its validation text gets a tenth of its training text in that place.
    """
    from chainrule.text.split import split

    if not learns_from_validation(recipe):
        return train, held_out
    try:
        return split(train, 0.1, recipe.split.seed + 1)
    except DataError:
        return train, None


def learns_from_validation(recipe: Any) -> bool:
    """Weights of Jelinek and Mercer, early stopping, rates that wait for a plateau."""
    training = getattr(recipe, "training", None)
    if training is not None:
        schedule = getattr(training, "schedule", None) or {}
        return getattr(training, "patience", None) is not None or schedule.get("name") == "plateau"
    smoothing = getattr(recipe.model, "smoothing", None)
    return smoothing is not None and smoothing["name"] == "jelinek_mercer"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
