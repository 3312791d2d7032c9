"""Autotune: a seeded search for the options that are best on validation texts, within a time or a number of trials.

As fastText's: each trial changes a few options of the best so far. The first is the recipe as it is.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from chainrule.classifying.features import Shape
from chainrule.classifying.fitting import Fitted, Fitting, Texts
from chainrule.classifying.measuring import spelled
from chainrule.classifying.validating import goodness
from chainrule.errors import DataError, OptionError

log = logging.getLogger("chainrule")
Options = dict[str, Any]  # by path, such as model.dimension
TRIES = 100  # changes drawn until one was not tried before
CHOICES: dict[str, tuple[Options, ...]] = {
    "dimension": tuple({"model.dimension": size} for size in (25, 50, 100, 200)),
    "word_ngrams": tuple({"model.word_ngrams": longest} for longest in (1, 2, 3)),
    "subwords": tuple({"model.min_n": low, "model.max_n": high} for low, high in ((0, 0), (2, 5), (3, 6))),
    "bucket": tuple({"model.bucket": size} for size in (50_000, 200_000, 2_000_000)),
    "loss": tuple({"model.loss": name} for name in ("softmax", "one_vs_all")),
}
SCALED = {"lr": ("training.lr", 0.6, 0.02, 5.0), "epochs": ("training.epochs", 0.5, 3, 200)}  # σ of ln, and bounds


@dataclass(frozen=True)
class Bound:
    """When the search ends."""

    seconds: float = float("inf")
    trials: float = float("inf")

    @classmethod
    def parse(cls, text: str) -> Bound:
        """`60s`, `5m`, `1h` or `20trials`."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h|trials?)", text.strip())
        if found is None or not float(found[1]):
            raise OptionError("training.autotune", text, "a time such as 60s, 5m or 1h, or trials such as 20trials")
        number, unit = float(found[1]), found[2]
        return cls(trials=number) if unit.startswith("trial") else cls(number * {"s": 1, "m": 60, "h": 3600}[unit])


class _OutOfTime(Exception):
    """The time is over in the middle of a trial."""


@dataclass
class Autotuning:
    """The search; `read(shape, recipe)` gives the training texts."""

    read: Callable[[Shape, Any], Texts]
    fitting: Fitting
    bound: Bound
    name: str  # of the training texts
    rows: list[dict[str, Any]] = field(default_factory=list)
    best: tuple[Fitted, Any] | None = None  # with its recipe
    best_trial: int = 0
    _texts: dict[Shape, Texts] = field(default_factory=dict)

    def search(self, recipe: Any) -> tuple[Fitted, Any]:
        """The best classifier that was found, and its recipe; Ctrl-C ends the search early."""
        began, rng, tried = time.monotonic(), np.random.default_rng(recipe.seed), set[str]()
        plan: Any = recipe
        try:
            while plan is not None and len(self.rows) < self.bound.trials:
                tried.add(plan.model_dump_json())
                self._trial(plan, recipe, began)
                if time.monotonic() - began >= self.bound.seconds:
                    break
                assert self.best is not None
                plan = proposed(self.best[1], rng, tried)
        except _OutOfTime:
            log.info(f"trial {len(self.rows) + 1}: not finished in time.")
        except KeyboardInterrupt:
            log.info(f"interrupted: {'nothing is saved.' if self.best is None else 'the best trial so far is kept.'}")
            if self.best is None:
                raise
        assert self.best is not None
        return self.best

    def _trial(self, recipe: Any, first: Any, began: float) -> None:
        def check_time() -> None:  # the first trial always ends, so that there is a model
            if self.rows and time.monotonic() - began >= self.bound.seconds:
                raise _OutOfTime

        changes, start = changed(first, recipe), time.monotonic()
        try:
            found = replace(self.fitting, after_epoch=check_time, say=lambda line: None).fit(self._read(recipe), recipe)
        except OptionError as error:  # it diverged
            if not self.rows:
                raise
            self.rows.append({"trial": len(self.rows) + 1, **changes, "problem": str(error)})
            return log.info(f"trial {len(self.rows)}: {error}")
        if "valid" not in found.report:
            raise DataError(f"{self.name}: no texts could be held out, by which autotune could choose. Give some "
                            "with --valid FILE.")
        valid = found.report["valid"]
        self.rows.append({"trial": len(self.rows) + 1, **changes, "epoch": found.report["epoch"],
                          "accuracy": valid["accuracy"], "log_loss": valid["log_loss"],
                          "seconds": round(time.monotonic() - start, 3)})
        if better := self.best is None or goodness(valid) > goodness(self.best[0].report["valid"]):
            self.best, self.best_trial = (found, recipe), len(self.rows)
        options = " ".join(f"{path}={value}" for path, value in changes.items()) or "the recipe as it is"
        return log.info(f"trial {len(self.rows)}: {spelled(valid)}{', the best so far' if better else ''}: {options}")

    def _read(self, recipe: Any) -> Texts:
        """Texts as bags; those of the best trial and of the last one are kept, for trials with the same features."""
        shape = shape_of(recipe.model)
        if shape not in self._texts:
            kept = set() if self.best is None else {shape_of(self.best[1].model)}
            self._texts = {each: texts for each, texts in self._texts.items() if each in kept}
            self._texts[shape] = self.read(shape, recipe)
        return self._texts[shape]

    def report(self) -> dict[str, Any]:
        """How many trials there were, and which was the best."""
        return {"autotune": {"trials": len(self.rows), "best": self.best_trial}}


def shape_of(options: Any) -> Shape:
    """The features that a recipe's `model` section names."""
    return Shape(options.word_ngrams, options.min_n, options.max_n, options.bucket)


def proposed(best: Any, rng: np.random.Generator, tried: set[str]) -> Any:
    """The best recipe with one to three of its options changed, another one than those tried; None if there is none."""
    for _ in range(TRIES):
        changes: Options = {}
        for name in rng.permutation([*SCALED, *CHOICES])[: rng.integers(1, 4)]:
            several = CHOICES.get(name, ())
            changes |= several[rng.integers(len(several))] if several else _scaled(best, str(name), rng)
        if best.model.vectors is not None:
            changes.pop("model.dimension", None)  # the vectors have theirs
        plan = with_options(best, changes)
        if shape_of(plan.model).hashed == 0:
            plan = with_options(plan, {"model.bucket": best.model.bucket})  # without n-grams it changes nothing
        if plan.model_dump_json() not in tried:
            return plan
    return None


def _scaled(recipe: Any, name: str, rng: np.random.Generator) -> Options:
    path, spread, low, high = SCALED[name]
    value = float(np.clip(option(recipe, path) * np.exp(rng.normal(0, spread)), low, high))
    return {path: round(value) if isinstance(low, int) else float(f"{value:.2g}")}


def option(recipe: Any, path: str) -> Any:
    """The value of an option such as training.lr."""
    section, name = path.split(".")
    return getattr(getattr(recipe, section), name)


def with_options(recipe: Any, changes: Options) -> Any:
    """The recipe with other values of these options."""
    sections = {path.split(".")[0] for path in changes}
    return recipe.model_copy(update={
        each: getattr(recipe, each).model_copy(update={path.split(".")[1]: value for path, value in changes.items()
                                                       if path.split(".")[0] == each}) for each in sections})


def changed(first: Any, recipe: Any) -> Options:
    """Options that differ from the first recipe's."""
    paths = [*(path for path, *_ in SCALED.values()), *(path for each in CHOICES.values() for path in each[0])]
    return {path: option(recipe, path) for path in paths if option(recipe, path) != option(first, path)}
