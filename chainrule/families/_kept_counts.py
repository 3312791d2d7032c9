"""N-gram runs that keep their counts: with more text they become exactly the model of both texts at once."""

from __future__ import annotations

import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.counting.counts import Counts
from chainrule.counting.shards import keeping_all, merged, open_counts, save_counts
from chainrule.errors import OptionError
from chainrule.families.ngram import WEIGHTS, counted, from_counts, scratch_for
from chainrule.jobs import Job, Trained
from chainrule.recipe.registry import build
from chainrule.runs import COUNTS, TOKENIZER
from chainrule.starting import Start
from chainrule.storage import open_run
from chainrule.storage.manifest import NAME
from chainrule.storage.tensors import open_tensors
from chainrule.text.encoded import Encoded, encode, fit_and_encode
from chainrule.text.tokenizer import load_tokenizer

FOLDER = "counts"  # in a run: the counts of all words, also of those too rare for the model, and their tokenizer
FILES = (f"{FOLDER}/{COUNTS}", f"{FOLDER}/{TOKENIZER}")
log = logging.getLogger("chainrule")


def has_counts(start: Start) -> bool:
    """Whether a run keeps its counts."""
    return set(FILES) <= set(start.files)


def check_counts_of(recipe: Any, start: Start) -> None:
    """Refuses options that do not fit the counts of a run, or the run that keeps none."""
    if has_counts(start):
        if recipe.model.order != start.recipe.model.order:
            raise OptionError("model.order", recipe.model.order, f"{start.recipe.model.order}, the order of the counts "
                              f"in {start.path}", f"Try model.order={start.recipe.model.order}.")
    elif recipe.model.keep_counts:
        raise OptionError("model.keep_counts", True, f"false, since {start.path} keeps no counts",
                          "Train it again with model.keep_counts=true first.")
    elif recipe.tokenizer != start.recipe.tokenizer:
        raise OptionError("tokenizer", recipe.tokenizer, f"{start.recipe.tokenizer} as in {start.path}, where training "
                          "starts")


def trained(job: Job) -> Trained:
    """The model of a text, and of the counts of the run that training starts from, if there is one."""
    recipe: Any = job.recipe
    trainer = build("text/tokenizers", recipe.tokenizer)
    with job.timed("reading"):
        own, encoded = _read(job, keeping_all(trainer))
    with job.timed("counting"):
        counts, scratch = counted(encoded, own, recipe.model, job.folder)
        if job.start is not None:
            tokenizer = load_tokenizer(job.start.path / FILES[1])
            earlier = open_counts(job.start.path / FILES[0], tokenizer)
            scratch = scratch_for(earlier.tokens + counts.tokens, recipe.model, job.folder, how="merging their counts")
            counts, own = merged([(earlier, tokenizer), (counts, own)], keeping_all(trainer), scratch)
            log.info(f"going on by counts: those of {job.start.path} and of this text are added up, as if both texts "
                     "had been counted at once.")
        limited, known = merged([(counts, own)], trainer, scratch)
    held_out = None if job.valid is None else encode(job.valid, known, recipe.text).ids
    found = from_counts(job, limited, known, scratch, held_out)

    def write(folder: Path) -> None:
        found.write(folder)
        if recipe.model.keep_counts:
            _save(folder, counts, own)

    return replace(found, write=write, report={**found.report, **_facts(job, encoded)})


def _read(job: Job, trainer: Any) -> tuple[Any, Encoded]:
    """The text in tokens of its own if two vocabularies of words can be joined, otherwise in those of the run."""
    assert job.corpus is not None
    if job.start is None or hasattr(trainer, "join"):
        return fit_and_encode(job.corpus, trainer, job.recipe.text)
    return job.start.tokenizer, encode(job.corpus, job.start.tokenizer, job.recipe.text)


def _facts(job: Job, encoded: Encoded) -> dict[str, Any]:
    here = {"units": encoded.units, "bytes": int(encoded.bytes.sum())}
    if job.start is None:
        return here
    before = job.start.report
    return {"continued_by": "counts",
            **{name: before[name] + value for name, value in here.items() if isinstance(before.get(name), int)}}


def _save(folder: Path, counts: Counts, tokenizer: Any) -> None:
    (folder / FOLDER).mkdir()
    save_counts(folder / FOLDER, counts)
    tokenizer.save(folder / FILES[1])


def copy_counts(run: Any, folder: Path) -> None:
    """Copies the counts of a run to another folder, if its model is still the one that was made of them."""
    if not (run.path / NAME).is_file() or not set(FILES) <= set(open_run(run.path).files):
        return
    before, now = open_tensors(run.path / WEIGHTS), run.model.table.tensors()
    if before.keys() == now.keys() and all(np.array_equal(before[name], now[name]) for name in now):
        (folder / FOLDER).mkdir()
        for name in FILES:
            shutil.copyfile(run.path / name, folder / name)
