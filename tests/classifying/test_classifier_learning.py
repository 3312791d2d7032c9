"""Learning: the steps are gradients, the kernel takes the same steps, and probabilities sum to one."""

import numpy as np
import pytest

from chainrule.classifying import reference
from chainrule.classifying.features import Bags, Shape
from chainrule.classifying.learning import LOSSES, fresh, learn
from chainrule.classifying.targets import Targets
from chainrule.classifying.vocabulary import learn_features
from chainrule.vectors.training_options import TrainingOptions

R, D, C = 7, 5, 3
COUNTS = np.array([5, 2, 9])
ROWS, WEIGHTS, SIZE = np.array([1, 4, 6]), np.array([2.0, 1.0, 1.0]), 5.0  # one feature of five is a row of zeros


def toy(loss, seed=0):
    rng = np.random.default_rng(seed)
    tree = Targets(np.zeros(0), np.zeros(0), COUNTS).tree(loss)
    return rng.normal(size=(R, D)), rng.normal(size=(C - (loss == "hierarchical_softmax"), D)), tree


@pytest.mark.parametrize("label", range(C))
@pytest.mark.parametrize("loss", LOSSES[:3])
def test_a_step_follows_the_gradient(loss, label):
    """Central differences of −ln p at every parameter."""
    inputs, outputs, tree = toy(loss)

    def value(inputs, outputs):
        return reference.loss_of(reference.hidden_of(inputs, ROWS, WEIGHTS, SIZE), outputs, label, loss, tree)

    stepped = inputs.copy(), outputs.copy()
    reference.step(*stepped, (ROWS, WEIGHTS, SIZE), label, 1.0, loss, tree)
    for which, table in enumerate((inputs, outputs)):
        slope = np.zeros_like(table)
        for place in np.ndindex(*table.shape):
            sides = []
            for gap in (1e-6, -1e-6):
                moved = [inputs.copy(), outputs.copy()]
                moved[which][place] += gap
                sides.append(value(*moved))
            slope[place] = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(stepped[which] - table, -slope, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES[:2])
def test_probabilities_sum_to_one(loss):
    _, outputs, tree = toy(loss)
    hidden = np.random.default_rng(1).normal(size=(11, D)) * 5
    np.testing.assert_allclose(np.exp(reference.log_chances(hidden, outputs, loss, tree)).sum(-1), 1, atol=1e-12)


def test_the_trees_probabilities_are_products_along_the_way():
    _, outputs, tree = toy("hierarchical_softmax")
    hidden = np.random.default_rng(1).normal(size=D)
    for label in range(C):
        way = range(tree.starts[label], tree.starts[label + 1])
        signs = [1 - 2 * int(tree.codes[n]) for n in way]
        expected = np.prod([1 / (1 + np.exp(-sign * outputs[tree.nodes[n]] @ hidden))
                            for sign, n in zip(signs, way, strict=True)])
        found = reference.log_chances(hidden, outputs, "hierarchical_softmax", tree)[label]
        assert np.exp(found) == pytest.approx(expected)


def test_ten_thousand_labels_have_exact_probabilities_along_the_tree():
    rng, count = np.random.default_rng(0), 10_000
    tree = Targets(np.zeros(0), np.zeros(0), rng.integers(1, 1000, count)).tree("hierarchical_softmax")
    hidden, outputs = (rng.normal(size=(rows, D)).astype(np.float32) for rows in (2, count - 1))
    exact = reference.log_chances(hidden.astype(float), outputs.astype(float), "hierarchical_softmax", tree)
    found = reference.log_chances(hidden, outputs, "hierarchical_softmax", tree)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.exp(exact).sum(-1), 1)
    alone = Targets(np.zeros(0), np.zeros(0), np.array([5])).tree("hierarchical_softmax")
    assert reference.log_chances(hidden, outputs[:0], "hierarchical_softmax", alone).tolist() == [[0], [0]]


@pytest.mark.parametrize("loss", LOSSES[:3])
def test_the_kernel_learns_as_plain_steps_do(loss):
    rng = np.random.default_rng(2)
    texts = [b" ".join(rng.choice([b"a", b"b", b"c", b"d", b"e"], rng.integers(1, 9))) for _ in range(40)]
    features, bags, _ = learn_features(texts, Shape(2, bucket=50), min_count=1, size=None)
    labels = rng.integers(C, size=len(texts)).astype(np.int32)
    targets = Targets(np.arange(len(texts) + 1), labels, np.bincount(labels, minlength=C))
    options = TrainingOptions(dimension=D, epochs=3, alpha=0.5, threads=1, seed=3)
    inputs, outputs = fresh(features.rows, C - (loss == "hierarchical_softmax"), options)
    assert np.abs(inputs).max() <= 1 / D and not inputs[:, D:].any() and inputs[:, :D].std() > 0.5 / D
    slow = inputs.astype(float), outputs.astype(float)
    learn(bags, targets, options, loss, inputs, outputs)
    _slowly(*slow, bags, targets, options, loss)
    np.testing.assert_allclose(inputs, slow[0], atol=2e-5)
    np.testing.assert_allclose(outputs, slow[1], atol=2e-5)
    assert np.abs(outputs).max() > 0.1


def _slowly(inputs, outputs, bags: Bags, targets, options, loss):
    total, done = bags.sizes.sum() * options.epochs, 0.0
    for _ in range(options.epochs):
        for text in np.random.default_rng(options.seed).permutation(len(bags)):
            own = slice(bags.starts[text], bags.starts[text + 1])
            alpha = options.alpha * (1 - done / total)
            bag = bags.members[own], bags.weights[own].astype(float), bags.sizes[text]
            reference.step(inputs, outputs, bag, targets.labels[text], alpha, loss, targets.tree(loss))
            done += bags.sizes[text]


def test_one_of_several_labels_is_drawn_at_random():
    """A text with two labels is taught both, each about half of the time."""
    _, bags, _ = learn_features([b"a"] * 400, Shape(), min_count=1, size=None)
    targets = Targets(np.arange(0, 801, 2), np.tile(np.array([0, 1], np.int32), 400), np.array([400, 400, 1]))
    options = TrainingOptions(dimension=D, epochs=5, alpha=0.5, threads=1)
    inputs, outputs = fresh(2, C, options)
    learn(bags, targets, options, "softmax", inputs, outputs)
    chances = np.exp(reference.log_chances(inputs.mean(0), outputs, "softmax", targets.tree("softmax")))
    assert chances[2] < 0.05 and abs(chances[0] - chances[1]) < 0.2


def test_the_learning_rate_falls_with_what_all_threads_have_read():
    """A thread that comes late takes the step of the moment, not that of its own beginning."""
    from chainrule.kernels.classifier_training import learn_texts

    _, bags, _ = learn_features([b"a b"], Shape(), min_count=1, size=None)
    tree, moved = Targets(np.zeros(0), np.zeros(0), COUNTS).tree("softmax"), []
    for others in (0, 50, 75, 100):
        inputs, outputs = np.ones((3, 16), np.float32), np.zeros((2, 16), np.float32)
        read = np.array([[0] * 8, [others] * 8])
        learn_texts(inputs, outputs, bags.starts, bags.members, bags.weights, bags.sizes, np.array([0, 1]),
                    np.zeros(1, np.int32), np.zeros(1, np.int32), 0, 1, np.float32(0.5), 100.0, read, 0, 0, tree.starts,
                    tree.nodes, tree.codes, np.ones(2), 5, np.uint64(1))
        assert read[0, 0] == 3
        moved.append(outputs[0, 0])
    np.testing.assert_allclose(moved, [0.25, 0.125, 0.0625, 0], atol=1e-6)


def test_one_of_two_labels_drawn_as_noise_is_one_versus_all():
    texts, labels = [b"a b", b"b c", b"a", b"c c"] * 5, np.tile(np.array([0, 1, 0, 1], np.int32), 5)
    features, bags, _ = learn_features(texts, Shape(), min_count=1, size=None)
    targets, found = Targets(np.arange(21), labels, np.array([10, 10])), []
    options = TrainingOptions(dimension=D, alpha=0.5)
    for loss in ("one_vs_all", "negative_sampling"):
        tables = fresh(features.rows, 2, options)
        learn(bags, targets, options, loss, *tables, negative=1)
        found.append(tables)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_noise_is_drawn_by_its_shares():
    from chainrule.kernels.classifier_training import draw

    state, shares = np.array([88172645463325252], np.uint64), np.sqrt([1, 4, 0, 25])
    drawn = np.bincount([draw(np.cumsum(shares), state) for _ in range(8000)], minlength=4)
    assert drawn[2] == 0
    np.testing.assert_allclose(drawn / 8000, shares / 8, atol=0.02)
