"""Counts of pairs, GloVe and PPMI against dense and plain computations."""

import itertools

import numpy as np
import pytest
from small_text import small_text

from chainrule.errors import OptionError
from chainrule.kernels import vectors_glove
from chainrule.vectors import cooccurrence
from chainrule.vectors.cooccurrence import count_pairs, count_plainly, distance_weights
from chainrule.vectors.factorized import truncated_svd
from chainrule.vectors.methods import glove
from chainrule.vectors.methods.ppmi import information
from chainrule.vectors.plan import Plan


def as_dict(pairs):
    return {(int(a), int(b)): w for a, b, w in zip(pairs.rows, pairs.columns, pairs.weights, strict=True)}


@pytest.mark.parametrize("weighting", ["harmonic", "dynamic", "flat"])
def test_pairs_are_counted_as_the_definition_says(weighting):
    text, weights = small_text(), distance_weights(4, weighting)
    found, expected = as_dict(count_pairs(text, weights, memory=1 << 28)), count_plainly(text, weights)
    assert found.keys() == expected.keys()
    assert all(found[pair] == pytest.approx(expected[pair]) for pair in expected)


def test_the_weight_of_a_distance():
    assert distance_weights(4, "harmonic")[1:].tolist() == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert distance_weights(4, "dynamic")[1:].tolist() == [1, 0.75, 0.5, 0.25]  # the mean over windows 1 to 4


def test_little_memory_gives_the_same_counts(monkeypatch, tmp_path):
    """Tables so small that most is sorted, written and merged."""
    text, weights = small_text(words=300, length=20_000, unit=5000), distance_weights(5, "harmonic")
    expected = count_pairs(text, weights, memory=1 << 28)
    monkeypatch.setattr(cooccurrence, "LEAST", 1 << 8)
    spilled = []
    monkeypatch.setattr(cooccurrence, "_spilled", lambda *given, real=cooccurrence._spilled: spilled.append(1)
                        or real(*given))
    found = count_pairs(text, weights, memory=1 << 16, folder=tmp_path)
    assert len(spilled) > 5 and not list(tmp_path.iterdir())
    np.testing.assert_array_equal(found.keys, expected.keys)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-12)


def test_too_little_memory_is_refused():
    with pytest.raises(OptionError, match="model.method.memory = 1, expected at least 2"):
        count_pairs(small_text(), distance_weights(4, "flat"), memory=1 << 20)


def dense_counts(text, weights):
    found = np.zeros((text.vocabulary_size,) * 2)
    for (a, b), weight in count_plainly(text, weights).items():
        found[a, b] = found[b, a] = weight
    return found


@pytest.mark.parametrize("shift, smoothing", [(1.0, 1.0), (2.0, 0.75)])
def test_the_matrix_and_its_svd_agree_with_a_dense_computation(shift, smoothing):
    text, weights = small_text(words=60, length=4000), distance_weights(3, "dynamic")
    x = dense_counts(text, weights)
    context = x.sum(0) ** smoothing / (x.sum(0) ** smoothing).sum()
    with np.errstate(divide="ignore"):
        expected = np.maximum(np.log(x / x.sum(1)[:, None] / context / shift), 0)
    matrix = information(count_pairs(text, weights, memory=1 << 28), shift=shift, smoothing=smoothing)
    eye = np.eye(60, dtype=np.float32)
    np.testing.assert_allclose(matrix.times(eye), expected, atol=1e-5)
    np.testing.assert_allclose(matrix.transposed_times(eye), expected.T, atol=1e-5)
    u, sizes = truncated_svd(matrix, 8)
    left, exact, _ = np.linalg.svd(expected)
    np.testing.assert_allclose(sizes, exact[:8], rtol=1e-3)
    best = left[:, :8] @ left[:, :8].T @ expected
    np.testing.assert_allclose(np.linalg.norm(expected - u @ (u.T @ expected)), np.linalg.norm(expected - best),
                               rtol=1e-3)


def test_glove_steps_as_plain_numpy_does():
    plan, size = Plan(dimension=6, seed=1), 5
    rng = np.random.default_rng(0)
    entries = [(a, b, np.float32(rng.random()), np.float32(rng.normal()))
               for a, b in itertools.combinations_with_replacement(range(size), 2)]
    ours, theirs = glove.fresh(size, plan), [each.astype(np.float64) for each in glove.fresh(size, plan)]
    columns = [np.array(column) for column in zip(*entries, strict=True)]
    order = rng.permutation(len(entries))
    vectors_glove.descend(order, *columns, *ours, np.float32(0.05))
    for e in order:
        glove.step_plainly(entries[e], theirs, 0.05)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_glove_follows_the_gradient_of_its_cost():
    """At the first step the squares are 1: the change is −α ∂/∂w of f (w·c + b + b' − ln x)² / 2."""
    tables = [each.astype(np.float64) for each in glove.fresh(3, Plan(dimension=4, seed=2))]
    before = [each.copy() for each in tables]
    glove.step_plainly((1, 1, 0.7, 2.5), tables, 1e-6)

    def cost(words, contexts):
        return 0.35 * (words[1, :-1] @ contexts[1, :-1] + words[1, -1] + contexts[1, -1] - 2.5) ** 2

    for d in range(5):
        up, down = before[0].copy(), before[0].copy()
        up[1, d] += 1e-5
        down[1, d] -= 1e-5
        slope = (cost(up, before[1]) - cost(down, before[1])) / 2e-5
        assert (tables[0][1, d] - before[0][1, d]) / 1e-6 == pytest.approx(-slope, rel=1e-4)


def test_the_cost_of_glove_falls(tmp_path):
    text, plan = small_text(), Plan(dimension=8, epochs=20, alpha=0.05, window=4)
    pairs = count_pairs(text, distance_weights(4, "harmonic"), memory=1 << 28)
    costs = glove.descend(glove.Glove(x_max=10).entries(pairs), glove.fresh(text.vocabulary_size, plan), plan)
    assert costs[-1] < costs[0] / 10
