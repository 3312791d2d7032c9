"""Classification: a text, an image or a recording gets the labels that fit it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.models.sizes import Sizes
from chainrule.protocols import Classifier
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, find, part
from chainrule.task_protocols import Small
from chainrule.tasks._examples import Encoded, ExamplesRead
from chainrule.tasks._known import Known
from chainrule.tasks._rows import RowBatches
from chainrule.tasks._task import Learned, OnRows, refuse_target

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.evaluation.options import Measuring
    from chainrule.inputs.labeled import Example
    from chainrule.jobs import Job
    from chainrule.models.classifier import NeuralClassifier
    from chainrule.tasks._batch import Batch


@part
class Classification(OnRows, Learned):
    """A text, an image or a recording gets the labels that fit it.

    −1/N Σ_n ln p(label_n | input_n), or of each label by itself where an input may have several.

    `labels` is the column of a table that has them, a number where it has no header; `prefix` is how they begin in
    lines of text, `separator` stands between several in one column.
    """

    ability = Classifier
    kind = "classifier"
    uses = ("predict {run} FILE", 'inspect {run} "a text"', "evaluate {run} --data FILE")
    caution = "It gives labels as its training data has them, with their mistakes and prejudices."
    causal = False

    def __init__(self, *, labels: str | int = "label", prefix: str = "__label__", separator: str | None = None,
                 inputs: Annotated[Choice, PartOf("inputs/modalities")] = "text"):
        if not prefix:
            raise OptionError("task.prefix", prefix, "at least one character")
        self.labels, self.prefix, self.separator = str(labels), prefix, separator
        self.modality = build("inputs/modalities", inputs)
        self.loss_per, self.view = self.modality.called, self.modality.view
        if self.modality.endings:
            self.uses = ("predict {run} FILE", "inspect {run} FILE", "evaluate {run} --data FOLDER")

    def open(self, data: Any, recipe: Any, target: Any = None) -> Any:
        from chainrule.inputs.labeled import open_labeled

        refuse_target(self, target)
        return data if hasattr(data, "fingerprint") else open_labeled(data, recipe, self.modality)

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Sizes:
        known = facts or {}
        tokens, features = self.modality.sizes(vocabulary, known.get("inputs", {}))
        return Sizes(tokens, len(known.get("labels", "ab")), features)

    def small(self, folder: Path) -> Small:
        return self.modality.small(folder)

    def read(self, job: Job) -> ExamplesRead:
        from chainrule.inputs.label_notes import say_single
        from chainrule.inputs.labeled import labeled, layout_of
        from chainrule.inputs.labeled_json import with_parts

        layout = layout_of(job.recipe)
        corpus, valid = with_parts(job.corpus, job.valid)
        train = list(labeled(corpus, layout))
        held_out = None if valid is None else list(labeled(valid, layout))
        if not train:
            raise DataError(f"{corpus.name}: no labeled {self.modality.plural} to train on.")
        several = not find("parts/heads", job.recipe.model.head["name"]).exclusive  # type: ignore[attr-defined]
        if not several:
            _check_single(train)
        counts = Counter(label for each in train for label in set(each.labels))
        say_single([(label, each.where) for each in train for label in dict.fromkeys(each.labels)
                    if counts[label] == 1])
        labels = sorted(counts)
        if len(labels) == 1 and not several:
            raise DataError(f"{corpus.name}: all {len(train):,} {self.modality.plural} have the label {labels[0]!r}, "
                            "expected at least two labels to tell apart.")
        tokenizer, own = self.modality.learn([each.text for each in train], job)
        facts = {"labels": labels, "counts": [counts[label] for label in labels], "several": several, "inputs": own}
        known = Known(tokenizer, self.sizes(0 if tokenizer is None else tokenizer.vocabulary_size, facts), facts)
        context = job.recipe.model.context
        return ExamplesRead(known, self._encoded(train, known, context),
                            None if held_out is None else self._encoded(held_out, known, context))

    def _encoded(self, examples: Sequence[Example], known: Known, context: int) -> Encoded:
        """Validation examples whose labels training never had count as wrong, and have no loss."""
        number = {label: n for n, label in enumerate(known.facts["labels"])}
        arrays = self.modality.encode([each.text for each in examples], known.tokenizer, known.facts["inputs"], context)
        wanted = [[number[label] for label in each.labels if label in number] for each in examples]
        return Encoded(arrays, wanted, _Targets(len(number), known.facts["several"]))

    def training_data(self, read: ExamplesRead, network: Any, plan: Any, say: Any) -> RowBatches:
        facts = read.known.facts["inputs"]
        train, valid = (None if each is None else each.examples(self.modality, facts, plan.seed)
                        for each in (read.train, read.valid))
        assert train is not None
        return RowBatches(read.known, train, valid, plan)

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        return network.head.loss(network.summary(batch.inputs, batch.lengths), batch.targets, smoothing=smoothing), \
            batch.count, None

    def validate(self, network: Any, batches: Iterator[Batch]) -> dict[str, float]:
        total, right, count, targets = 0.0, 0, 0, 0
        for batch in batches:
            pooled = network.summary(batch.inputs, batch.lengths)
            total += float(network.head.loss(pooled, batch.targets))
            best = network.head.log_probs(pooled).argmax(-1)
            hits = batch.targets.gather(1, best[:, None])[:, 0] == 1 if batch.targets.dim() > 1 else (
                batch.targets == best)
            right, count, targets = right + int(hits.sum()), count + len(batch), targets + batch.count
        return {"loss": total / max(targets, 1), "accuracy": right / count} if count else {}

    def rank(self, found: Mapping[str, float]) -> float:
        """Accuracy; of equal ones the smaller loss, which is far below the smallest difference of accuracies."""
        return -found["accuracy"] + 1e-9 * found["loss"]

    def finished(self, network: Any, read: ExamplesRead) -> Known:
        """With the temperature that calibrates probabilities, learned on the validation examples."""
        from chainrule.evaluation.calibration import fitted_temperature

        if read.valid is None or read.known.facts["several"]:
            return read.known
        model = self.model(network, read.known)
        wanted = np.array([own[0] if own else -1 for own in read.valid.wanted])
        found = fitted_temperature(model.log_p_of(read.valid.arrays)[wanted >= 0], wanted[wanted >= 0])
        return read.known.told(temperature=found)

    def model(self, network: Any, known: Known) -> NeuralClassifier:
        from chainrule.models.classifier import NeuralClassifier

        return NeuralClassifier(network, known, self.modality)

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        from chainrule.classifying.measuring import measure, threshold_of
        from chainrule.inputs.labeled import labeled, layout_of

        corpus = self.open(data, run.recipe)
        return measure(run.offering(Classifier, "evaluate"), labeled(corpus, layout_of(run.recipe)), corpus.name,
                       threshold_of(run, how.threshold), how)

    def reading(self, recipe: Any) -> Any:
        """Where labels stand, and the kind of input: in what size and how changed images are read is a model's own."""
        return {**recipe.task, "inputs": recipe.task["inputs"]["name"]}

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """On labeled inputs: `tasks._labeled_texts`."""
        from chainrule.tasks._labeled_texts import LabeledTexts

        refuse_target(self, targets[0] or targets[1])
        return LabeledTexts(self, recipe, data, valid, fraction, seed)


class _Targets:
    """The labels of examples as the loss wants them: a number each, or 0 and 1 for every label."""

    def __init__(self, labels: int, several: bool):
        self.labels, self.several = labels, several

    def __call__(self, wanted: Sequence[Sequence[int]]) -> np.ndarray:
        if not self.several:
            return np.array([own[0] if own else -100 for own in wanted])
        found = np.zeros((len(wanted), self.labels), np.int64)
        for row, own in zip(found, wanted, strict=True):
            row[list(own)] = 1
        return found


def _check_single(examples: Sequence[Example]) -> None:
    for each in examples:
        if len(set(each.labels)) > 1:
            raise DataError(f"{each.source}: line {each.line}: {len(set(each.labels))} labels "
                            f"({', '.join(each.labels[:3])}), expected one, since the head chooses one. For several "
                            "labels: model.head=independent.")
