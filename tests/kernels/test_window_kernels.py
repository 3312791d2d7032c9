"""The kernels of skip-gram and CBOW against NumPy, and NumPy against finite differences."""

import numpy as np
import pytest
from small_text import small_text

from chainrule.kernels.vectors_blocks import CLIP, STEPS, logistic_table
from chainrule.vectors import reference, windows
from chainrule.vectors.huffman import huffman
from chainrule.vectors.training_options import TrainingOptions, padded

LOSSES = windows.LOSSES
SEED = windows.seed_of(5, 3)


def some_bags(size, seed=1):
    """Bags of one to four of twice as many rows; the own row first."""
    rng = np.random.default_rng(seed)
    bags = [[w, *rng.integers(size, 2 * size, rng.integers(0, 4))] for w in range(size)]
    starts = np.cumsum([0, *map(len, bags)]).astype(np.int64)
    return windows.Bags(starts, np.concatenate(bags).astype(np.int32), 2 * size)


def tables(text, options, objective, bags, seed=0):
    rng = np.random.default_rng(seed)
    outputs = text.vocabulary_size - (objective.loss == "hierarchical_softmax")
    return windows.Tables(*(padded(n, options.dimension, rng.normal(0, 0.3, (n, options.dimension)).astype(np.float32))
                            for n in (bags.rows, outputs)))


def from_the_table(x):
    table = logistic_table()
    return table[np.clip(((x + CLIP) * STEPS).astype(int), 0, len(table) - 1)]


def test_the_table_is_the_logistic_function():
    x = np.linspace(-7.9, 7.9, 1001)
    np.testing.assert_allclose(from_the_table(x), reference.logistic(x), atol=6e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("from_context", [False, True], ids=["skipgram", "cbow"])
@pytest.mark.parametrize("with_bags", [False, True], ids=["words", "subwords"])
def test_a_kernel_equals_numpy(loss, from_context, with_bags, monkeypatch):
    """Given the same table of the logistic function; where rounding takes its next entry, a row moves by 0.001."""
    monkeypatch.setattr(reference, "logistic", from_the_table)
    text, options = small_text(length=300), TrainingOptions(dimension=19, window=4, sample=0.05, seed=3)
    objective = windows.Objective(from_context, loss, negative=3)
    bags = some_bags(text.vocabulary_size) if with_bags else windows.own_rows(text.vocabulary_size)
    ours, theirs = (tables(text, options, objective, bags) for _ in range(2))
    before = ours.inputs.copy()
    words = windows.chunk_step(text, options, objective, bags, ours)(text.ids, np.float32(0.05), SEED)
    reference.learn_chunk(text, text.ids, options, objective, bags, theirs, seed=int(SEED), alpha=0.05)
    assert words == text.tokens
    assert np.abs(ours.inputs - before).max() > 0.1
    np.testing.assert_allclose(ours.inputs, theirs.inputs, rtol=0, atol=2e-3)
    np.testing.assert_allclose(ours.outputs, theirs.outputs, rtol=0, atol=2e-3)


@pytest.mark.parametrize("from_context", [False, True], ids=["skipgram", "cbow"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_follows_the_gradient_of_the_loss(loss, from_context):
    """One block and a tiny step: the change of every row is −α ∂loss/∂row by central differences, in float64.

    Where a hidden vector is a mean of n rows, each takes n times its own gradient, as in word2vec.
    """
    rng = np.random.default_rng(2)
    size, alpha = 7, 1e-7
    words, block, times = np.array([1, 4, 2, 6, 0, 3]), [(1, [0, 2]), (3, [1, 2, 4, 5]), (4, [3])], 1
    if from_context:
        block, times = [(1, [0, 2, 3, 4]), (3, [1, 2, 4, 5])], 4
    objective, bags = windows.Objective(from_context, loss, negative=3), windows.own_rows(size)
    inputs, outputs = (rng.normal(0, 0.5, (size, 5)) for _ in range(2))
    drawn = np.array([5, 0, 5, 1] if loss == "negative_sampling" else [], np.int64)
    tree = huffman(np.arange(1, size + 1))
    moved = windows.Tables(inputs.copy(), outputs.copy())
    reference.learn_block(words, block, objective, bags, moved, drawn, alpha=alpha, tree=tree)

    def cost(inputs, outputs):
        return sum(window_cost(inputs, outputs, words, i, around, objective, drawn, tree) for i, around in block)

    for row in range(size):
        for d in range(5):
            slope = central(lambda x: cost(x, outputs), inputs, row, d)  # noqa: B023
            assert (moved.inputs - inputs)[row, d] / alpha == pytest.approx(-times * slope, abs=1e-5)
            slope = central(lambda x: cost(inputs, x), outputs, row, d)  # noqa: B023
            assert (moved.outputs - outputs)[row, d] / alpha == pytest.approx(-slope, abs=1e-5)


def central(cost, table, row, d, step=1e-5):
    up, down = table.copy(), table.copy()
    up[row, d] += step
    down[row, d] -= step
    return (cost(up) - cost(down)) / (2 * step)


def window_cost(inputs, outputs, words, i, around, objective, drawn, tree):
    """−ln of what is to be likely, straight from the definitions."""
    here, near = [words[i]], [words[j] for j in around]
    sources, targets = (near, here) if objective.from_context else (here, near)
    h = inputs[sources].mean(0)
    if objective.loss == "softmax":
        return -sum(np.log(np.exp(outputs[w] @ h) / np.exp(outputs @ h).sum()) for w in targets)
    if objective.loss == "hierarchical_softmax":
        return -sum(np.log(tree_probability(tree, w, h, outputs)) for w in targets)
    pull = -sum(np.log(reference.logistic(outputs[w] @ h)) for w in targets)
    share = objective.negative * len(targets) / len(drawn)
    return pull - share * sum(np.log(reference.logistic(-outputs[n] @ h)) for n in drawn)


def tree_probability(tree, word, h, nodes):
    path = slice(tree.starts[word], tree.starts[word + 1])
    return np.prod(reference.logistic((1 - 2.0 * tree.codes[path]) * (nodes[tree.nodes[path]] @ h)))


@pytest.mark.parametrize("size", [2, 3, 10, 257])
def test_the_leaves_of_the_tree_share_all_probability(size):
    rng = np.random.default_rng(size)
    tree = huffman(rng.integers(1, 1000, size))
    h, nodes = rng.normal(size=6), rng.normal(size=(size - 1, 6))
    assert sum(tree_probability(tree, w, h, nodes) for w in range(size)) == pytest.approx(1)


def test_frequent_words_have_short_codes_and_none_could_be_better():
    counts = np.array([40, 30, 10, 10, 5, 5])
    tree = huffman(counts)
    assert (counts * np.diff(tree.starts)).sum() == 220  # 40·1 + 30·2 + (10 + 10 + 5 + 5)·4: by hand


@pytest.mark.parametrize("loss", LOSSES)
def test_a_block_has_centers_whatever_the_number_of_noise_words(loss):
    text, options = small_text(length=300), TrainingOptions(dimension=5, window=2)
    negatives = (1, 5, 40) if loss == "negative_sampling" else (0, 5)
    for negative in negatives:
        objective = windows.Objective(from_context=True, loss=loss, negative=negative)
        assert 1 <= windows.block_size(text, options, objective) <= windows.BLOCK
        assert objective.shared % 8 == 0
        assert objective.shared >= 4 * negative
