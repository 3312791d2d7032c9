"""One training in a process of its own: `python -m chainrule.experiments.trial TASK.json`.

Its memory is its own, so that a lack of it ends one row and not all. It tells how far it is in lines of JSON on
standard output; what the library says goes to standard error.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
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
    from chainrule.runs import load
    from chainrule.storage import open_run

    train, held_out = Source(**task["source"]).halves()
    out = Path(task["run"])
    done = None
    with suppress(ChainruleError):
        done = json.loads(open_run(out).file("report.json").read_text(encoding="utf-8")).get("trial")
    if done != task["identity"]:
        _train(task, train, held_out, out)
    tell({"stage": "measuring"})
    measure(load(out), held_out, task)


def _train(task: Mapping[str, Any], train: Any, held_out: Any, out: Path) -> None:
    from chainrule.jobs import Job, existing_parent
    from chainrule.recipe.recipe import make_recipe
    from chainrule.recipe.registry import find
    from chainrule.verbs.train import finish

    recipe = make_recipe(task["recipe"])
    corpus, valid = validation(recipe, train, held_out)
    job = Job(recipe, corpus, valid, existing_parent(out), out=out, force=True, show=_Now())
    family: Any = find("families", recipe.family)
    trained = family.train(job)
    report = {"trial": task["identity"], **trained.report}
    if not on_gpu():
        report["peak_memory"] = peak_memory()
    finish(replace(job, valid=None), replace(trained, report=report), out, force=True)


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


def on_gpu() -> bool:
    """Whether torch has computed on a GPU, whose memory the family then reports."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_initialized()


def peak_memory() -> int:
    """Bytes that this process has had at most; Linux' `getrusage` would count the process that started it, too."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
