"""N-gram runs without counts go on by mixture: a model of the new text beside the old one, with learned weights."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.counting.mixture import Mixture, fit_weights
from chainrule.errors import UsageError
from chainrule.evaluation.scoring import token_log_probs
from chainrule.families.mixture import MEMBERS, copy_run
from chainrule.families.ngram import WEIGHTS, counted, from_counts
from chainrule.jobs import Job, Trained
from chainrule.runs import load, save_run
from chainrule.starting import Start
from chainrule.storage.tensors import save_tensors
from chainrule.text.encoded import encode

log = logging.getLogger("chainrule")


def trained(job: Job, start: Start) -> Trained:
    """p(w|h) = λ p_old(w|h) + (1 − λ) p_new(w|h), over the tokens of the run; EM chooses λ on the validation text."""
    if job.valid is None:
        raise UsageError(f"{start.path}: keeps no counts (model.keep_counts=true), so a model of the new text is mixed "
                         "with it. The weights are learned on validation text: give --valid FILE, or split.valid=0.1.")
    recipe, tokenizer = job.recipe, start.tokenizer
    assert job.corpus is not None
    with job.timed("reading"):
        old: Any = load(start.path).model
        encoded, held_out = (encode(each, tokenizer, recipe.text) for each in (job.corpus, job.valid))
    with job.timed("counting"):
        counts, scratch = counted(encoded, tokenizer, recipe.model, job.folder)
    new = from_counts(job, counts, tokenizer, scratch, held_out.ids)
    with job.timed("weighing"):
        weights = fit_weights(np.stack([token_log_probs(model, held_out.ids, held_out.ends, pad=tokenizer.end)
                                        for model in (old, new.model)]))
    log.info(f"going on by mixture, since {start.path} keeps no counts (model.keep_counts=true): {weights[0]:.3f} of "
             f"it and {weights[1]:.3f} of a model of this text, as the validation text has it.")
    facts = {"units": encoded.units, "bytes": int(encoded.bytes.sum()), "continued_by": "mixture",
             "weights": [round(weight, 6) for weight in weights.tolist()]}

    def write(folder: Path) -> None:
        copy_run(start.path, folder / MEMBERS / "0")
        save_run(folder / MEMBERS / "1", new.write, recipe=recipe.model_copy(update={"start_from": None}),
                 tokenizer=tokenizer, report={"family": recipe.family, **new.report})
        save_tensors(folder / WEIGHTS, {"weights": weights})

    return replace(new, model=Mixture([old, new.model], weights.tolist()), write=write, report={**new.report, **facts})
