"""Quantized tables: near the original, and exact where 256 centroids are enough."""

import numpy as np
import pytest

from chainrule.classifying.quantizing import QuantizedRows, longest_rows, quantized, with_zeros
from chainrule.kernels.classifier_quantizing import cluster, nearest

EVERY = np.arange(3000)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return (rng.normal(size=(3000, 11)) * rng.lognormal(size=(3000, 1))).astype(np.float32)


@pytest.mark.parametrize("norms", [True, False])
@pytest.mark.parametrize("piece", [1, 2, 4])
def test_rows_are_near_the_original(table, piece, norms):
    rows = quantized(table, piece=piece, norms=norms)
    assert rows.codes.shape == (3000, -(-11 // piece)) and len(rows) == 3000
    found = rows[EVERY]
    error = np.linalg.norm(found - table) / np.linalg.norm(table)
    assert found.shape == table.shape and error < {1: 0.1, 2: 0.2, 4: 0.5}[piece]
    again = QuantizedRows.from_tensors(rows.tensors())
    np.testing.assert_array_equal(again[EVERY], found)


def test_few_different_rows_are_kept_exactly(table):
    few = table[np.arange(3000) % 100]
    np.testing.assert_allclose(quantized(few, piece=2, norms=False)[EVERY], few, rtol=1e-6)


def test_lengths_apart_keep_lengths_better(table):
    lengths = np.linalg.norm(table, axis=1)

    def wrong(norms):
        return np.median(np.abs(np.linalg.norm(quantized(table, piece=4, norms=norms)[EVERY], axis=1) / lengths - 1))

    assert wrong(True) < wrong(False)


def test_the_nearest_centroid_is_that_of_numpy(table):
    points, centers = table[:, :2].copy(), table[:256, :2].T.copy()
    gaps = ((points[:, :, None] - centers[None]) ** 2).sum(1)
    found = nearest(points, centers)
    np.testing.assert_allclose(gaps[np.arange(3000), found], gaps.min(1), rtol=1e-5)
    before = gaps.min(1).sum()
    after = cluster(points, centers.copy(), 5)
    assert ((points[:, :, None] - after[None]) ** 2).sum(1).min(1).sum() < before


def test_the_longest_rows_are_kept_in_their_order(table):
    kept = longest_rows(table, 1, 50)
    lengths = np.linalg.norm(table[1:], axis=1)
    assert kept[0] == 0 and (np.diff(kept) > 0).all() and len(kept) == 50
    assert set(kept[1:].tolist()) == set((1 + np.argsort(-lengths)[:49]).tolist())


@pytest.mark.parametrize("norms", [True, False])
def test_chosen_rows_stay_as_they_are_quantized(table, norms):
    rows, some = quantized(table, piece=3, norms=norms), np.array([7, 3, 2999, 3])
    np.testing.assert_array_equal(rows.only(some)[np.arange(4)], rows[some])


@pytest.mark.parametrize("norms", [True, False])
def test_rows_of_zeros_stay_zeros_and_are_found(table, norms):
    holes = table * (np.arange(3000) % 5 > 0)[:, None]
    rows = quantized(holes, piece=2, norms=norms)
    np.testing.assert_array_equal(rows.filled(), rows[EVERY].any(1))
    if norms:
        assert not rows[EVERY[::5]].any() and rows.filled().sum() > 2300


@pytest.mark.parametrize("norms", [True, False])
def test_a_row_of_zeros_can_follow_the_others(table, norms):
    rows = quantized(table, piece=2, norms=norms)
    more = with_zeros(rows)
    assert len(more) == 3001 and not more[np.array([3000])].any()
    np.testing.assert_array_equal(more[EVERY], rows[EVERY])


def test_a_row_of_zeros_needs_a_length_that_no_row_has(table):
    rows = quantized(table, piece=2, norms=False)
    codes = (np.arange(3000) % 256).astype(np.uint8)
    full = QuantizedRows(rows.codes, rows.centroids, 11, codes, np.arange(1, 257, dtype=np.float32))
    assert with_zeros(full) is None
    spare = with_zeros(QuantizedRows(rows.codes, rows.centroids, 11, codes // 2, np.arange(1, 257, dtype=np.float32)))
    assert spare is not None and not spare[np.array([3000])].any()
