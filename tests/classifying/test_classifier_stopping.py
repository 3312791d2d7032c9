"""When training ends: a plateau, the pass that is kept, texts that are held out, and a step that falls to 0."""

import numpy as np
import pytest

from chainrule.classifying.features import Shape
from chainrule.classifying.learning import _SharedTraining, fresh, learn
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.targets import Gathered
from chainrule.classifying.validating import Validation, held_out_parts, labeled_parts
from chainrule.classifying.vocabulary import learn_features
from chainrule.inputs.labeled import Example
from chainrule.vectors.training_options import TrainingOptions

TEXTS = [Example(f"{word} {n % 7}".encode(), (f"is {word}", *["odd"] * (n % 2)), "texts", n + 1)
         for n in range(60) for word in ("red", "green", "blue")]
OPTIONS = TrainingOptions(dimension=8, epochs=6, alpha=0.4)


@pytest.fixture
def prepared():
    gathered = Gathered()
    features, bags, _ = learn_features(gathered.texts(TEXTS), Shape(2), min_count=1, size=None)
    labels, targets = gathered.finished("texts")
    inputs, outputs = fresh(features.rows, len(labels), OPTIONS)
    model = TextClassifier(labels, features, inputs[:, :8], outputs[:, :8], "softmax", targets.tree("softmax"))
    return model, bags, targets, inputs, outputs


def test_the_step_falls_from_where_it_is_to_zero(prepared):
    _, bags, targets, inputs, outputs = prepared
    shared = _SharedTraining(bags, targets, OPTIONS, "softmax", inputs, outputs, 5)
    shared.read[0, 0] = 2 * shared.one_pass
    shared.cool_down(3)

    def step(passes):
        return shared.alpha * (1 - passes * shared.one_pass / shared.progress.total)

    assert step(2) == pytest.approx(0.4 * (1 - 2 / 6)) and step(5) == pytest.approx(0, abs=1e-9)
    assert step(4) == pytest.approx(step(2) / 3)


@pytest.mark.parametrize(("left", "passes"), [(None, 6), (0, 2), (3, 5)])
def test_training_ends_after_the_passes_that_are_left(prepared, left, passes):
    _, bags, targets, inputs, outputs = prepared
    seen = []

    def after(epoch):
        seen.append(epoch)
        return left if epoch == 2 else None

    learn(bags, targets, OPTIONS, "softmax", inputs, outputs, after_epoch=after)
    assert seen == list(range(1, passes + 1))


def test_texts_that_are_held_out_are_not_taught_and_no_label_is_lost(prepared):
    model, bags, targets, inputs, outputs = prepared
    taught, held_out = targets.held_out(0.9, seed=3)
    assert len(held_out) == 162 and not set(held_out) & set(taught.taught)
    assert len(taught.taught) + len(held_out) == len(TEXTS)
    assert {label for number in taught.taught for label in TEXTS[number].labels} == set(model.labels)
    np.testing.assert_array_equal(targets.held_out(0.9, seed=3)[1], held_out)
    assert len(targets.held_out(0.05, seed=0)[1]) == 0  # 9 texts would say little
    before = inputs.copy()
    learn(bags, taught, OPTIONS, "softmax", inputs, outputs)
    rows = {row for number in taught.taught for row in bags.members[bags.starts[number] : bags.starts[number + 1]]}
    others = np.setdiff1d(np.arange(len(inputs)), sorted(rows))
    assert len(others) and (inputs[others] == before[others]).all() and (inputs[0] != before[0]).any()


def test_texts_that_are_held_out_are_measured_as_the_same_texts_from_a_file(prepared, monkeypatch):
    monkeypatch.setattr("chainrule.classifying.validating.TEXTS", 7)  # several parts
    model, bags, targets, inputs, outputs = prepared
    learn(bags, targets, OPTIONS, "softmax", inputs, outputs)
    _, held_out = targets.held_out(0.2, seed=1)
    rows = []
    for parts in (held_out_parts(bags, targets, held_out),
                  labeled_parts(model, [TEXTS[number] for number in held_out], "texts")):
        validation = Validation(model, parts, 6, None)
        validation.after(1)
        rows.append(validation.rows[0])
    assert rows[0] == pytest.approx(rows[1]) and rows[0]["labels"] > rows[0]["examples"] == len(held_out)


def outcome(accuracy, loss=1.0, examples=100):
    return {"examples": examples, "labels": examples, "unknown_labels": 0, "accuracy": accuracy, "precision": accuracy,
            "recall": accuracy, "log_loss": loss}


@pytest.mark.parametrize(("accuracies", "kept"), [([0.5, 0.80, 0.78], 3), ([0.5, 0.80, 0.70], 2), ([0.5, 0.6, 0.7], 3)])
def test_the_last_pass_is_kept_unless_another_was_clearly_better(prepared, accuracies, kept):
    """The standard error of 0.8 on 100 texts is 0.04."""
    model, bags, targets, *_ = prepared
    validation = Validation(model, held_out_parts(bags, targets, targets.held_out(0.2, 1)[1]), 50, 3)
    validation.rows = [{"epoch": n, **outcome(accuracy)} for n, accuracy in enumerate(accuracies, start=1)]
    validation.best = int(np.argmax(accuracies)) + 1
    validation.kept = np.full_like(model.inputs, 7), np.full_like(model.outputs, 7)
    assert validation.finish()["epoch"] == kept
    assert (model.inputs == 7).all() == (kept != 3)


@pytest.mark.parametrize(("rows", "advice"), [
    ([outcome(0.5), outcome(0.6), outcome(0.7)], "of 3 accuracy went from 0.6000 to 0.7000. Try training.epochs=12."),
    ([outcome(0.5), outcome(0.6, None), outcome(0.65, None)], ""),
    ([outcome(0.5), outcome(0.7, 2.0), outcome(0.7, 1.8)], "of 3 log loss went from 2.0000 to 1.8000. Try"),
    ([outcome(0.5), outcome(0.68), outcome(0.7)], ""),
])
def test_advice_says_whether_more_passes_would_help(prepared, rows, advice):
    model, bags, targets, *_ = prepared
    validation = Validation(model, held_out_parts(bags, targets, targets.held_out(0.2, 1)[1]), 3, None)
    validation.rows, validation.best = [{"epoch": n, **row} for n, row in enumerate(rows, start=1)], 3
    found = validation.finish().get("advice", [""])[0]
    assert advice in found and bool(advice) == found.startswith("still improving: in the last epoch ")
