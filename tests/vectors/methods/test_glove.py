"""GloVe against plain computations: its steps, its cost's gradient, its order of pairs, and training out of core."""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from small_text import small_text

import chainrule
from chainrule.counting.scratch import Scratch
from chainrule.kernels import vectors_glove
from chainrule.storage.tensors import open_tensors
from chainrule.vectors import memory_limit, shuffled
from chainrule.vectors.cooccurrence import count_pairs, distance_weights
from chainrule.vectors.methods import glove
from chainrule.vectors.training_options import TrainingOptions

WORD_BYTES = 4 * 4 * 16


def entries_of(text, *, x_max=10.0, scratch=None):
    pairs = count_pairs(text, distance_weights(4, "harmonic"), scratch or Scratch())
    return pairs, shuffled.shuffled(pairs, x_max=x_max, exponent=0.75, bytes_a_word=WORD_BYTES,
                                    scratch=scratch or Scratch())


@pytest.mark.parametrize("dimension", [6, 14, 15, 33])
def test_glove_steps_as_plain_numpy_does(dimension):
    options, size = TrainingOptions(dimension=dimension, seed=1), 5
    rng = np.random.default_rng(0)
    entries = np.array([(a, b, rng.random(), rng.normal())
                        for a, b in itertools.combinations_with_replacement(range(size), 2)], shuffled.ENTRY)
    ours, theirs = glove.fresh(size, options), glove.fresh(size, options).astype(np.float64)
    for _ in range(3):
        order = rng.permutation(len(entries))
        vectors_glove.descend(entries[order], ours, np.float32(0.5))
        for e in order:
            glove.step_plainly(entries[e].item(), theirs, 0.5)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    assert (ours[:, 0, dimension + 1] == 1).all() and (ours[:, 2, dimension] == 1).all()  # what the biases stand beside


def cost_of(table, pairs, dimension, x_max):
    """J as the paper has it, with biases by name; a pair counts both ways round."""
    word, bias, context, context_bias = (table[:, 0, :dimension], table[:, 0, dimension], table[:, 2, :dimension],
                                         table[:, 2, dimension + 1])
    total = 0.0
    for a, b, x in zip(pairs.rows, pairs.columns, pairs.weights, strict=True):
        for i, j in {(a, b), (b, a)}:
            error = word[i] @ context[j] + bias[i] + context_bias[j] - np.log(x)
            total += min(1, (x / x_max) ** 0.75) * error**2 / 2
    return total


def test_glove_follows_the_gradient_of_its_objective():
    """The first small steps of all pairs, taken together from the same place, are −α ∂J/∂θ by central differences."""
    dimension, alpha = 3, 1e-7
    text = small_text(words=5, length=60)
    pairs, entries = entries_of(text, x_max=3.0)
    start = glove.fresh(5, TrainingOptions(dimension=dimension, seed=2)).astype(np.float64)
    after = start.copy()
    for entry in entries.entries:
        moved = start.copy()
        glove.step_plainly(entry.item(), moved, alpha)
        after += moved - start
    for i, half, d in itertools.product(range(5), (0, 2), range(dimension + 2)):
        if (half, d) in ((0, dimension + 1), (2, dimension)):  # always 1
            continue
        up, down = start.copy(), start.copy()
        up[i, half, d] += 1e-5
        down[i, half, d] -= 1e-5
        slope = (cost_of(up, pairs, dimension, 3.0) - cost_of(down, pairs, dimension, 3.0)) / 2e-5
        assert (after[i, half, d] - start[i, half, d]) / alpha == pytest.approx(-slope, rel=1e-3, abs=1e-4)


def test_the_kernel_gives_the_objective_as_its_cost():
    text = small_text()
    pairs, entries = entries_of(text)
    table = glove.fresh(text.vocabulary_size, TrainingOptions(dimension=8, seed=3))
    expected = cost_of(table.astype(np.float64), pairs, 8, 10.0)
    assert vectors_glove.descend(np.array(entries.entries), table, np.float32(0)) == pytest.approx(expected, rel=1e-4)


def test_the_cost_of_glove_falls():
    text, options = small_text(), TrainingOptions(dimension=8, epochs=20, alpha=0.05, window=4)
    costs = glove.descend(entries_of(text)[1], glove.fresh(text.vocabulary_size, options), options)
    assert costs[-1] < costs[0] / 10


@pytest.mark.parametrize("piece, cache", [(1 << 16, 8 << 20), (64, 8 << 20), (64, 1 << 10)])
def test_every_pair_is_in_one_piece_and_pieces_of_groups_need_few_words(piece, cache, monkeypatch, tmp_path):
    monkeypatch.setattr(shuffled, "PIECE", piece)
    monkeypatch.setattr(shuffled, "CACHE", cache)
    pairs, entries = entries_of(small_text(words=200, length=20_000, unit=500))
    assert (len(entries.starts) > 2) == (piece == 64) and entries.starts[-1] == len(pairs.keys)
    seen = [entries.piece(number, 7) for number in range(len(entries.starts) - 1)]
    if cache == 1 << 10:
        words = [len(np.unique([some["row"], some["column"]])) for some in seen]
        assert max(words) <= 2 * -(-200 // shuffled.group_count(len(pairs.keys), 200 * WORD_BYTES)) < 100
    together = np.sort(np.concatenate(seen), order=["row", "column"])
    np.testing.assert_array_equal(together["row"], pairs.rows)
    np.testing.assert_array_equal(together["column"], pairs.columns)
    np.testing.assert_allclose(together["log"], np.log(pairs.weights), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(together["weight"], np.minimum(1, (pairs.weights / 10) ** 0.75), rtol=1e-6)


def test_a_seed_gives_an_order_and_all_orders_are_as_likely():
    _, entries = entries_of(small_text(words=3, length=200))
    orders = [tuple(entries.piece(0, seed)[["row", "column"]].tolist()) for seed in range(3000)]
    assert orders[5] == tuple(entries.piece(0, 5)[["row", "column"]].tolist())
    first = [order[0] for order in orders]
    counts = [first.count(pair) for pair in set(first)]
    assert len(counts) == len(entries) and min(counts) > 3000 / len(entries) * 0.8


def test_training_out_of_core_gives_the_same_bytes_and_leaves_nothing(kinds, tmp_path, monkeypatch):
    how = ["tokenizer.min_count=1", "model.dimension=8", "training.epochs=3", "training.threads=1"]
    chainrule.train("glove", kinds, tmp_path / "in-memory", overrides=how)
    limits = []
    monkeypatch.setattr(memory_limit, "Scratch", lambda limit=None, folder=None, real=memory_limit.Scratch:
                        limits.append(limit) or real(limit, folder))
    monkeypatch.setattr(memory_limit, "EVENT", 1 << 20)
    chainrule.train("glove", kinds, tmp_path / "on-disk", overrides=[*how, "model.method.memory=300M"])
    one, other = (open_tensors(tmp_path / name / "model.safetensors") for name in ("in-memory", "on-disk"))
    assert limits == [264 << 20] and one["vectors"].tobytes() == other["vectors"].tobytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in-memory", "on-disk"]


MANY_PAIRS = """
import json, resource, sys
from pathlib import Path
import numpy as np
from chainrule.recipe.registry import build
from chainrule.vectors.training_options import TrainingOptions
from chainrule.vectors.text import listed, numbered

ids = np.memmap(sys.argv[1], np.uint16, "w+", shape=1_500_000)
ids[:] = np.random.default_rng(0).integers(3, 20_000, len(ids))
text = numbered(ids, listed([str(word).encode() for word in range(20_000)]))
found = build("vectors/methods", {"name": "glove", "memory": "300M"}).learn(
    text, TrainingOptions(dimension=4, window=20, epochs=1, threads=1, folder=Path(sys.argv[1]).parent), None)
print(json.dumps({"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10, **found.facts}))
"""


@pytest.mark.slow
def test_memory_stays_below_the_bound_where_pairs_take_more_than_that(tmp_path):
    done = subprocess.run([sys.executable, "-c", MANY_PAIRS, tmp_path / "ids"], capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["pairs"] * 16 > 400 << 20 and found["peak"] < 300 << 20
    assert [path.name for path in tmp_path.iterdir()] == ["ids"]
