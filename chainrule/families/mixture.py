"""The family of mixtures: finished runs of any families, averaged with weights learned on held-out text."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from chainrule.counting.mixture import Mixture, fit_weights
from chainrule.counting.sound import LARGEST_SUM
from chainrule.errors import OptionError, UsageError
from chainrule.evaluation.scoring import token_log_probs
from chainrule.jobs import Job, Trained
from chainrule.protocols import Family, LanguageModel, Tokenizer
from chainrule.recipe.recipe import Recipe
from chainrule.recipe.registry import part
from chainrule.runs import LoadedRun, load
from chainrule.starting import Start
from chainrule.storage import open_run
from chainrule.storage.manifest import NAME
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.text.units import unit_of

WEIGHTS, MEMBERS = "model.safetensors", "members"


@part
class MixtureFamily(Family):
    """A static mixture of finished runs, its weights learned by EM on the text that it is given."""

    class Options(BaseModel):
        """What a recipe's `model` section may say."""

        model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

        members: list[str] = []  # run folders with one and the same tokenizer; they are copied into the new run
        weights: list[float] | None = None  # fixed weights; learned where there are none
        tolerance: float = Field(default=1e-6, gt=0)  # nats per token: EM stops when an iteration gains less

    sums = (0.0, LARGEST_SUM)  # a member may have been imported

    @classmethod
    def train(cls, job: Job) -> Trained:
        from chainrule.text.encoded import encode

        options = job.recipe.model
        members = _loaded(options.members)
        first = members[0]
        tokenizer: Any = first.tokenizer
        text = job.recipe.text.model_copy(update={"unit": _unit(job.recipe.text.unit, first)})
        recipe = job.recipe.model_copy(update={"tokenizer": first.recipe.tokenizer, "text": text})
        assert job.corpus is not None
        with job.timed("reading"):
            encoded = encode(job.corpus, tokenizer, recipe.text)
        with job.timed("weighing"):
            weights = np.asarray(options.weights, np.float64) if options.weights is not None else fit_weights(
                np.stack([token_log_probs(m.model, encoded.ids, encoded.ends, pad=tokenizer.end) for m in members]),
                tolerance=options.tolerance)
        model = Mixture([member.model for member in members], weights.tolist())
        report = {"tokens": len(encoded.ids), "vocabulary": tokenizer.vocabulary_size,
                  "members": [member.recipe.family for member in members],
                  "weights": [round(weight, 6) for weight in model.weights]}
        return Trained(tokenizer, model, lambda folder: _write(folder, members, model), report, recipe=recipe)

    @classmethod
    def load(cls, folder: Path, recipe: Recipe, tokenizer: Tokenizer) -> Mixture:
        weights = open_tensors(folder / WEIGHTS)["weights"]
        return Mixture([load(folder / MEMBERS / str(m)).model for m in range(len(weights))], weights.tolist())

    @classmethod
    def check_start(cls, recipe: Any, start: Start) -> None:
        members = ",".join(str(start.path / MEMBERS / str(m)) for m in range(len(start.report.get("members", ()))))
        raise UsageError(f"{start.path}: a mixture has only weights, which are learned from each text anew. Try "
                         f"chainrule train mixture --data … --out … model.members=[{members}]")

    @classmethod
    def write(cls, folder: Path, run: Any) -> None:
        for m in range(len(run.model.weights)):
            copy_run(run.path / MEMBERS / str(m), folder / MEMBERS / str(m))
        save_tensors(folder / WEIGHTS, {"weights": np.array(run.model.weights)})


def _unit(option: str, member: LoadedRun) -> str:
    """The members' unit of text; any other is refused."""
    unit = unit_of(member.recipe.text, keeps_space=member.tokenizer.keeps_space)
    if option not in ("auto", unit):
        raise OptionError("text.unit", option, f"the members' {unit}")
    return unit


def _loaded(paths: list[str]) -> list[LoadedRun]:
    if len(paths) < 2:
        raise OptionError("model.members", paths, "two run folders or more", "Say model.members=[runs/a,runs/b].")
    members = [load(path) for path in paths]
    for member in members:
        member.offering(LanguageModel, "a mixture")
    first: Any = members[0]
    for member in members[1:]:
        other: Any = member
        if other.tokenizer.digest() != first.tokenizer.digest() or other.recipe.text.unit != first.recipe.text.unit:
            raise UsageError(f"{member.path} and {first.path} have different tokenizers or units of text; the members "
                             "of a mixture must predict the same tokens.")
    return members


def _write(folder: Path, members: list[LoadedRun], model: Mixture) -> None:
    for m, member in enumerate(members):
        copy_run(member.path, folder / MEMBERS / str(m))
    save_tensors(folder / WEIGHTS, {"weights": np.array(model.weights)})


def copy_run(source: Path, target: Path) -> None:
    """Copies the files of a run, and nothing else that lies there."""
    for name in [*open_run(source).files, NAME]:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)
