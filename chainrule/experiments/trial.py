"""One training in its own process: `python -m chainrule.experiments.trial TASK.json`.

If it runs out of memory, one row fails and not all. It reports its progress as lines of JSON on standard output;
messages of the library go to standard error.
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
from chainrule.jobs import learns_from_validation

OUT_OF_MEMORY = "out of memory. Try a smaller model or batch, or less text."
EVERY = 0.5  # seconds between two lines about a training


def main(path: str) -> int:
    """Returns 0 if the result was written; if not, a line on standard output says why."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        perform(json.loads(Path(path).read_text(encoding="utf-8")))
    except ChainruleError as error:
        send({"failed": " ".join(str(error).split())})
    except MemoryError:
        send({"failed": OUT_OF_MEMORY})
    except RuntimeError as error:  # torch has no exception of its own for this on a CPU
        if "memory" not in str(error):
            raise
        send({"failed": OUT_OF_MEMORY})
    else:
        return 0
    return 1


def send(facts: Mapping[str, Any]) -> None:
    """Sends facts to the parent process; if that has ended, training stops after its step and can be resumed."""
    try:
        print(json.dumps(facts), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        os.kill(os.getpid(), signal.SIGTERM)


class _ProgressSender:
    """Sends the progress of training now and then."""

    def __init__(self) -> None:
        self.sent = 0.0

    def __call__(self, facts: Mapping[str, Any]) -> None:
        if time.monotonic() - self.sent >= EVERY:
            self.sent = time.monotonic()
            send({name: facts[name] for name in ("progress", "step", "bits_per_byte") if name in facts})


def perform(task: Mapping[str, Any]) -> None:
    """Trains unless there is a finished run, then measures."""
    from chainrule.experiments.by_measure.answers import contest_of, write_answers
    from chainrule.experiments.holdout import Source
    from chainrule.experiments.measuring import measure
    from chainrule.recipe.recipe import make_recipe
    from chainrule.recipe.registry import find
    from chainrule.runs import load
    from chainrule.starting import resolved
    from chainrule.verbs.train import finish, prepared

    out, source = Path(task["run"]), Source(**task["source"])
    recipe, start = resolved(make_recipe(task["recipe"]), (), None)
    contest, search = contest_of(recipe, source), bool(task.get("search"))
    if contest is None:
        text, held_out = source.halves()
        corpus, valid = validation(recipe, text, held_out, search=search)
    else:
        apart = search or learns_from_validation(recipe)
        corpus, valid = contest.for_validation() if apart else (contest.train, None)
    if not is_trained(out, recipe, corpus, valid):
        job = prepared(recipe, corpus, out, valid=valid, force=True, show=_ProgressSender(), start=start)
        family: Any = find("families", recipe.family)
        finish(job, family.train(job), out, force=True, measure=False)
    send({"stage": "measuring"})
    if search:
        write_loss(out, task)
    elif contest is None:
        measure(load(out), held_out, task)
    else:
        write_answers(contest.answers(load(out)), task)


def is_trained(out: Path, recipe: Any, corpus: Any, valid: Any) -> bool:
    """Whether there is a run of this recipe on this text, by this version."""
    from chainrule import __version__
    from chainrule.recipe.recipe import load_recipe
    from chainrule.storage import open_run
    from chainrule.storage.json_files import read_object

    try:
        folder = open_run(out)
        report, made_by = (read_object(folder.file(name)) for name in ("report.json", "environment.json"))
        same = load_recipe(folder.file("recipe.yaml")) == recipe
    except (ChainruleError, OSError, ValueError):
        return False
    texts = {name: each.fingerprint()[:16] for name, each in (("train", corpus), ("valid", valid)) if each is not None}
    return same and report.get("data") == texts and made_by.get("chainrule") == __version__


def write_loss(out: Path, task: Mapping[str, Any]) -> None:
    """The last loss in validation, by which a search chooses: nothing that is held out is looked at."""
    from chainrule.experiments.measuring import write
    from chainrule.storage import open_run
    from chainrule.storage.json_files import read_object

    loss = (read_object(open_run(out).file("report.json")).get("last") or {}).get("loss")
    if loss is None:
        raise DataError("too little training data to set a tenth of it aside, expected more for a search.")
    write(Path(task["result"]), {"identity": task["identity"], "loss": loss})


def validation(recipe: Any, train: Any, held_out: Any, *, search: bool = False) -> tuple[Any, Any]:
    """The training and validation text: curves are measured on the held-out text, but nothing is chosen by it.

    A recipe that learns from its validation text gets a tenth of its training text in that place, and so does a search.
    """
    from chainrule.text.split import split

    if not search and not learns_from_validation(recipe):
        return train, held_out
    try:
        return split(train, 0.1, recipe.split.seed + 1)
    except DataError:
        return train, None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
