"""From labeled texts and a recipe to a trained classifier: read once, then trained, once or in several ways."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.classifying.beginning import Beginning
from chainrule.classifying.features import Bags, Features, Shape
from chainrule.classifying.learning import fresh, learn
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.targets import Targets
from chainrule.classifying.validating import Part, Validation, held_out_parts, labeled_parts
from chainrule.classifying.vocabulary import learn_features
from chainrule.errors import DataError
from chainrule.inputs.labeled import Example
from chainrule.threads import cores
from chainrule.vectors.training_options import TrainingOptions

log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class Texts:
    """Training texts as bags of features, with their labels."""

    features: Features
    bags: Bags
    words: int
    labels: list[str]
    targets: Targets


@dataclass(frozen=True)
class Fitted:
    """A trained classifier, facts for the report, and the figures of each pass."""

    model: TextClassifier
    counts: np.ndarray
    report: dict[str, Any]
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Fitting:
    """What all trainings of one job share: validation texts, what they begin with, and who is told."""

    valid: Sequence[Example] | None
    name: str  # of the validation texts
    beginning: Beginning = Beginning()
    show: Any = None
    after_epoch: Callable[[], None] = lambda: None
    say: Callable[[str], None] = log.info

    def fit(self, texts: Texts, recipe: Any) -> Fitted:
        """Trains one classifier as the recipe says."""
        options, loss, width = recipe.training, recipe.model.loss, recipe.model.dimension
        training = TrainingOptions(dimension=width, epochs=options.epochs, alpha=options.lr,
                                   threads=options.threads or cores(), seed=recipe.seed, show=self.show,
                                   seconds=options.budget.seconds)
        inputs, outputs = fresh(texts.features.rows, len(texts.labels) - (loss == "hierarchical_softmax"), training)
        self.beginning.put_into(texts.features, inputs, outputs)
        model = TextClassifier(texts.labels, texts.features, inputs[:, :width], outputs[:, :width], loss,
                               texts.targets.tree(loss))
        targets, parts = self._validation(model, texts, recipe)
        validation = Validation(model, parts, options.epochs, options.patience, self.say) if parts else None

        def after(epoch: int) -> int | None:
            left = None if validation is None else validation.after(epoch)
            self.after_epoch()
            return left

        facts = learn(texts.bags, targets, training, loss, inputs, outputs, negative=recipe.model.negative,
                      after_epoch=None if validation is None else after)
        held_out = {} if targets.taught is None else {"held_out": len(texts.bags) - len(targets.taught)}
        report = {"labels": len(texts.labels), "texts": len(texts.bags), **held_out, "words": texts.words,
                  "vocabulary": len(texts.features.words), "ngrams": len(texts.features.used), **facts,
                  **({} if validation is None else validation.finish())}
        return Fitted(model, texts.targets.counts, report, [] if validation is None else validation.rows)

    def _validation(self, model: TextClassifier, texts: Texts, recipe: Any) -> tuple[Targets, list[Part]]:
        """What is trained on and what is validated on: given texts, or some of the training texts, or none."""
        if self.valid is not None:
            return texts.targets, labeled_parts(model, self.valid, self.name)
        if recipe.training.patience is None or not recipe.training.held_out:
            return texts.targets, []
        targets, held_out = texts.targets.held_out(recipe.training.held_out, recipe.split.seed)
        if len(held_out):
            self.say(f"{len(held_out):,} of {len(texts.bags):,} texts are held out to see when to stop. To train on "
                     "all of them, give others with --valid, or set training.held_out=0.")
        return targets, held_out_parts(texts.bags, texts.targets, held_out)


def read_texts(examples: Iterable[Example], shape: Shape, recipe: Any, name: str, beginning: Beginning) -> Texts:
    """Reads the training texts, on all threads."""
    gathered = beginning.gathered()
    features, bags, words = learn_features(
        gathered.texts(examples), shape, min_count=recipe.tokenizer["min_count"], size=recipe.tokenizer["size"],
        threads=recipe.training.threads or cores(), **beginning.more())
    labels, targets = gathered.finished(name)
    if not len(features.words) and not len(features.used):  # it would give every text the same answer
        raise DataError(f"{name}: no word occurs as often as tokenizer.min_count asks. Try tokenizer.min_count=1, or "
                        "more text.")
    return Texts(features, bags, words, labels, targets)
