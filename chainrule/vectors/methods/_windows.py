"""What skip-gram and CBOW have in common, with or without subwords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from chainrule.errors import OptionError
from chainrule.vectors.methods._method import Learned, Tensors
from chainrule.vectors.text import Source, Text, read_text
from chainrule.vectors.training_options import TrainingOptions, padded
from chainrule.vectors.windows import Objective, Tables, fresh, learn, own_rows

LARGEST = 20_000  # words: larger vocabularies take too long for the whole softmax
STEEPEST = 10.0  # power of a count, either way: its sum over all words stays a finite number


class WindowMethod:
    """A method whose vectors are the inputs of an `Objective`."""

    usual: Mapping[str, float] = {"epochs": 5, "alpha": 0.025, "min_alpha": 0.0001, "sample": 0.001}
    continues: ClassVar[bool] = True
    objective: Objective

    def read(self, source: Source) -> Text:
        return read_text(source)

    def learn(self, text: Text, options: TrainingOptions, before: Tensors | None) -> Learned:
        check_size(text, self.objective)
        bags = own_rows(text.vocabulary_size)
        tables = fresh(text, options, self.objective, bags)
        if before is not None:
            tables = _continued(before, tables, options)
        facts = learn(text, options, self.objective, bags, tables)
        return Learned({"vectors": tables.inputs[:, : options.dimension], **what_predicts(tables, options)}, facts)


FOR_CBOW = {**WindowMethod.usual, "alpha": 0.05}  # as in the word2vec program: a mean allows larger steps


def objective_of(*, from_context: bool, loss: str, negative: int, ns_exponent: float, where: str) -> Objective:
    """The options, checked."""
    if loss == "negative_sampling" and negative < 1:
        raise OptionError(f"{where}.negative", negative, "at least 1", f"Or say {where}.loss=hierarchical_softmax.")
    if abs(ns_exponent) > STEEPEST:
        raise OptionError(f"{where}.ns_exponent", ns_exponent, f"{-STEEPEST:g} to {STEEPEST:g}",
                          "0 draws all words alike, 1 by their counts.")
    return Objective(from_context, loss, negative, ns_exponent)


def check_size(text: Text, objective: Objective) -> None:
    """The whole softmax takes time and memory for every word of the vocabulary at every word of the text."""
    if objective.loss == "softmax" and text.vocabulary_size > LARGEST:
        raise OptionError("model.method.loss", "softmax", f"another loss for {text.vocabulary_size:,} words",
                          f"The whole softmax is for at most {LARGEST:,}; raise tokenizer.min_count, or take "
                          "negative_sampling.")


def _continued(before: Tensors, new: Tables, options: TrainingOptions) -> Tables:
    """An earlier run's rows; words that it did not have (rows of NaN) begin as new ones do."""
    inputs = before["vectors"]
    known = ~np.isnan(inputs[:, 0])
    new.inputs[known, : options.dimension] = inputs[known]
    return with_outputs(before, new, options)


def with_outputs(before: Tensors, new: Tables, options: TrainingOptions) -> Tables:
    """An earlier run's outputs and the tree whose inner nodes they are, where both runs have one or neither has."""
    outputs = before.get("outputs")
    if outputs is None or len(outputs) != len(new.outputs) or ("tree" in before) != (new.tree is not None):
        return new
    return Tables(new.inputs, padded(len(outputs), options.dimension, np.nan_to_num(outputs)), before.get("tree"))


def what_predicts(tables: Tables, options: TrainingOptions) -> Tensors:
    """The outputs, by which training can go on, and what they are of."""
    outputs = tables.outputs[:, : options.dimension]
    return {"outputs": outputs} if tables.tree is None else {"outputs": outputs, "tree": tables.tree}
