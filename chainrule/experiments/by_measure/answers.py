"""What a trained model did on each held-out unit, from the process that measured it to the one that compares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.contests import Contest, Contested
from chainrule.evaluation.ranking import Answers
from chainrule.experiments.holdout import Source
from chainrule.experiments.measuring import write
from chainrule.recipe.registry import build
from chainrule.storage.tensors import open_tensors, save_tensors


def contest_of(recipe: Any, source: Source) -> Contest | None:
    """What models of this recipe's task are compared on; None where it is the text itself."""
    task = build("tasks", recipe.task)
    if not isinstance(task, Contested):
        return None
    return task.contest(recipe, source.data, source.valid, fraction=source.fraction, seed=source.seed,
                        targets=(source.target, source.valid_target))


def write_answers(answers: Answers, task: Mapping[str, Any]) -> None:
    """The table, then the facts: a trial with a facts file is finished."""
    result = Path(task["result"])
    partial = result.with_suffix(".safetensors.partial")
    save_tensors(partial, {"table": np.ascontiguousarray(answers.table)})
    partial.replace(result.with_suffix(".safetensors"))
    write(result, {"identity": task["identity"], "beside": dict(answers.beside)})


def read_answers(result: Path, facts: Mapping[str, Any]) -> Answers:
    """What `write_answers` wrote."""
    return Answers(np.asarray(open_tensors(result.with_suffix(".safetensors"))["table"]), facts["beside"])
