"""Counts of pairs and PPMI against dense and plain computations; little memory gives the same."""

import errno
import os

import numpy as np
import pytest
from small_text import small_text

from chainrule.counting.scratch import Scratch
from chainrule.errors import OptionError
from chainrule.recipe.registry import build
from chainrule.vectors import cooccurrence
from chainrule.vectors.cooccurrence import cells_for, count_pairs, count_plainly, distance_weights
from chainrule.vectors.factorized import truncated_svd
from chainrule.vectors.methods.ppmi import information


def as_dict(pairs):
    return {(int(a), int(b)): w for a, b, w in zip(pairs.rows, pairs.columns, pairs.weights, strict=True)}


@pytest.mark.parametrize("cells", [0, 40, 1 << 20])
@pytest.mark.parametrize("window", [1, 2, 4, 15])
@pytest.mark.parametrize("weighting", ["harmonic", "dynamic", "flat"])
def test_pairs_are_counted_as_the_definition_says(weighting, window, cells, monkeypatch):
    """Whether all pairs have a cell, some or none."""
    monkeypatch.setattr(cooccurrence, "CELLS", cells)
    text, weights = small_text(), distance_weights(window, weighting)
    found, expected = as_dict(count_pairs(text, weights, Scratch())), count_plainly(text, weights)
    assert found.keys() == expected.keys()
    assert all(found[pair] == pytest.approx(expected[pair], rel=1e-6) for pair in expected)


def test_frequent_pairs_have_a_cell_each_and_none_shares_it():
    cells = cells_for(1000, 4096)
    places = [cells.offsets[a] + b for a in range(1000) for b in range(a, cells.limits[a])]
    assert sorted(places) == list(range(len(cells.values))) and 2048 < len(places) <= 4096
    assert cells.limits[0] > cells.limits[10] > 10


def test_the_weight_of_a_distance():
    assert distance_weights(4, "harmonic")[1:].tolist() == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert distance_weights(4, "dynamic")[1:].tolist() == [1, 0.75, 0.5, 0.25]  # the mean over windows 1 to 4


def little_room(monkeypatch, folder, events=700):
    """A scratch that is always beyond its limit, and has room for few events at a time."""
    monkeypatch.setattr(cooccurrence, "PROGRAM", 0)
    monkeypatch.setattr(cooccurrence, "CELLS", 64)
    monkeypatch.setattr(cooccurrence, "BLOCK", 500)
    monkeypatch.setattr(cooccurrence, "IDS", 3000)
    return Scratch(64 * 8 + events * 24, folder)


def test_little_memory_gives_the_same_bytes(monkeypatch, tmp_path):
    """Tables so small that most is sorted, written and merged."""
    text, weights = small_text(words=300, length=20_000, unit=5000), distance_weights(5, "harmonic")
    expected = count_pairs(text, weights, Scratch())
    scratch, runs = little_room(monkeypatch, tmp_path), []
    monkeypatch.setattr(cooccurrence, "merged", lambda given, where, real=cooccurrence.merged:
                        runs.extend(given) or real(given, where))
    found = count_pairs(text, weights, scratch)
    assert len(runs) > 50 and not list(tmp_path.iterdir())
    np.testing.assert_array_equal(found.keys, expected.keys)
    np.testing.assert_array_equal(found.sums, expected.sums)


@pytest.mark.parametrize("given, message", [
    ("100M", "model.method.memory = '100M', expected at least 300M. Python and the kernels themselves take 200M."),
    (7, "model.method.memory = 7, expected at least 300M. Python and the kernels themselves take 200M."),
    ("5X", "model.method.memory = '5X', expected a size such as 500M or 1.5G.")])
@pytest.mark.parametrize("method", ["glove", "ppmi"])
def test_too_little_memory_or_no_size_is_one_clear_line(method, given, message):
    with pytest.raises(OptionError) as error:
        build("vectors/methods", {"name": method, "memory": given})
    assert str(error.value) == message


def test_a_full_disk_is_reported_with_its_folder(monkeypatch, tmp_path):
    def full(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match=f"No space left on device: '{tmp_path}'"):
        count_pairs(small_text(), distance_weights(4, "flat"), little_room(monkeypatch, tmp_path))
    assert not list(tmp_path.iterdir())


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
    matrix = information(count_pairs(text, weights, Scratch()), shift=shift, smoothing=smoothing)
    eye = np.eye(60, dtype=np.float32)
    np.testing.assert_allclose(matrix.times(eye), expected, atol=1e-5)
    np.testing.assert_allclose(matrix.transposed_times(eye), expected.T, atol=1e-5)
    u, sizes = truncated_svd(matrix, 8)
    left, exact, _ = np.linalg.svd(expected)
    np.testing.assert_allclose(sizes, exact[:8], rtol=1e-3)
    best = left[:, :8] @ left[:, :8].T @ expected
    np.testing.assert_allclose(np.linalg.norm(expected - u @ (u.T @ expected)), np.linalg.norm(expected - best),
                               rtol=1e-3)
