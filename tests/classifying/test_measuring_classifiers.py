"""Figures of a classifier: the log loss is that of the definition, also where a probability is below any float."""

import math
from dataclasses import replace

import numpy as np
import pytest

from chainrule.classifying.features import Shape
from chainrule.classifying.learning import LOSSES
from chainrule.classifying.measuring import measure
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.targets import Targets
from chainrule.classifying.validating import Validation, labeled_parts
from chainrule.classifying.vocabulary import learn_features
from chainrule.inputs.labeled import Example

LABELS, WORDS = ["x", "y", "z"], [b"a", b"b", b"c", b"d"]
TEXTS = [Example(word, (label,), "texts", 1) for word in WORDS for label in LABELS]


def classifier(loss, scale):
    """Each text is one word; scores are about as large as scale."""
    features, _, _ = learn_features(WORDS, Shape(), min_count=1, size=None)
    rng, tree = np.random.default_rng(0), Targets(np.zeros(0), np.zeros(0), np.array([5, 2, 9])).tree(loss)
    inputs = rng.normal(size=(features.rows, 5)).astype(np.float32)
    outputs = (scale * rng.normal(size=(3 - (loss == "hierarchical_softmax"), 5))).astype(np.float32)
    return TextClassifier(LABELS, features, inputs, outputs, loss, tree)


def log_p(model, text, label):
    """ln p from exact scores, one exponential at a time."""
    scores = [float(s) for s in model.hidden([text])[0].astype(float) @ model.outputs.T.astype(float)]
    if model.loss == "softmax":
        return -math.log(sum(math.exp(s - max(scores)) for s in scores)) + scores[label] - max(scores)
    if model.loss == "hierarchical_softmax":
        way = range(model.tree.starts[label], model.tree.starts[label + 1])
        scores = [scores[model.tree.nodes[n]] * (1 - 2 * int(model.tree.codes[n])) for n in way]
    else:
        scores = [scores[label]]
    return sum(min(s, 0.0) - math.log1p(math.exp(-abs(s))) for s in scores)


@pytest.mark.parametrize("scale", [1, 60, 1000])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_log_loss_is_the_mean_of_minus_ln_p(loss, scale):
    model = classifier(loss, scale)
    expected = [-log_p(model, each.text, LABELS.index(each.labels[0])) for each in TEXTS]
    found = measure(model, TEXTS, "texts")
    assert found["log_loss"] == pytest.approx(sum(expected) / len(expected), rel=1e-5)
    validation = Validation(model, labeled_parts(model, TEXTS, "texts"), 1, None)
    validation.after(1)
    assert validation.rows[0]["log_loss"] == pytest.approx(found["log_loss"])
    if scale == 1000:
        assert 0 in model.probabilities(WORDS)  # below any float


@pytest.mark.parametrize("loss", ["one_vs_all", "negative_sampling"])
def test_of_labels_whose_probabilities_round_to_one_the_likeliest_is_found(loss):
    model = classifier(loss, 1)
    model = replace(model, inputs=np.ones_like(model.inputs),
                    outputs=np.float32([[4], [6], [5]]) * np.ones(5, np.float32))
    assert (model.probabilities(WORDS) == 1).all()
    assert [label for label, _ in model.predict([b"a"], top=3)[0]] == ["y", "z", "x"]
    assert measure(model, TEXTS, "texts")["per_label"]["y"]["predicted"] == len(TEXTS)
