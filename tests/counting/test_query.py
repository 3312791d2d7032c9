"""Queries: rows, steps and streams agree; the kernel and the compact form give the plain numbers."""

import numpy as np
import pytest

from chainrule.counting.count import count, with_start_marks
from chainrule.counting.estimate import Marks, estimate
from chainrule.counting.model import NGram
from chainrule.counting.query import score_stream_plainly
from chainrule.counting.scratch import Scratch
from chainrule.counting.table import Table
from chainrule.kernels.query import BLOCK, PIECE, score_stream
from chainrule.recipe.registry import build

START, END, SIZE = 1, 2, 41


def zipf_units(tokens: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    ids = 3 + np.minimum(draw.zipf(1.5, tokens), SIZE - 3) - 1
    ids[draw.random(tokens) < 0.1] = END
    ids[-1] = END
    return ids.astype(np.int32)


@pytest.fixture(scope="module")
def table() -> Table:
    counts = count(zipf_units(20_000, 0), 5, SIZE, start=START, end=END)
    method = build("counting/smoothing", "modified_kneser_ney")
    return estimate(counts, method, Marks(START, END, 0, True), prune=[0], scratch=Scratch(), say=print)


@pytest.mark.parametrize("order", [1, 2, 5])
def test_the_kernel_scores_as_the_plain_way_across_blocks_and_threads(table, order):
    short = Table(table.levels[:order], START, END, 0)
    text = with_start_marks(zipf_units(PIECE + 3 * BLOCK + 7, 1), START, END)
    real = text != START
    np.testing.assert_allclose(score_stream(short, text)[real], score_stream_plainly(short, text)[real], atol=2e-6)


@pytest.mark.parametrize("form", ["plain", "compact"])
def test_stepping_gives_what_scoring_at_once_gives(table, form):
    model = NGram(table if form == "plain" else table.compact())
    ids = zipf_units(600, 2).reshape(3, 200)
    ids[ids == END] = 7
    state, steps = model.start(3), []
    for t in range(200):
        steps.append(model.log_probs(state)[np.arange(3), ids[:, t]])
        state = model.advance(state, ids[:, t])
    np.testing.assert_allclose(np.stack(steps, 1), model.score(ids), atol=1e-5)


def test_picked_rows_are_independent_copies(table):
    model = NGram(table)
    state = model.advance(model.start(2), np.array([5, 6]))
    forked = model.pick(state, np.array([1, 1, 0]))
    before = model.log_probs(forked)
    model.advance(state, np.array([9, 9]))
    np.testing.assert_array_equal(model.log_probs(forked), before)
    np.testing.assert_array_equal(before[0], before[1])


def test_the_compact_form_is_lossless_for_few_distinct_numbers(table):
    compact = table.compact()
    for plain, coded in zip(table.levels, compact.levels, strict=True):
        np.testing.assert_array_equal(coded.log_probs[:], plain.log_probs)


def test_the_compact_form_of_many_numbers_is_near():
    from chainrule.counting.quantized import quantized

    values = np.random.default_rng(0).normal(-6, 2, 300_000).astype(np.float32)
    values[::1000] = -np.inf
    coded = quantized(values)
    assert np.array_equal(np.isneginf(coded[:]), np.isneginf(values))
    finite = np.isfinite(values)
    gap = np.abs(coded[:][finite] - values[finite])
    assert gap.max() < 1e-3 and coded.codes.dtype == np.uint16


def test_the_compact_form_of_a_sample_is_near_in_the_tails_too(monkeypatch):
    from chainrule.counting import quantized as module

    monkeypatch.setattr(module, "SAMPLE", 10_000)
    values = np.random.default_rng(0).normal(-6, 2, 300_000).astype(np.float32)
    values[[7, 11]] = -31.0, 3.0
    coded = module.quantized(values)
    assert np.abs(coded[:] - values).max() < 2e-3
    assert np.isneginf(module.quantized(np.full(30_000, -np.inf, np.float32))[:]).all()


def test_an_id_outside_the_vocabulary_is_refused_by_the_kernel_too(table):
    for bad in (SIZE, -3):
        with pytest.raises(IndexError):
            score_stream(table, np.array([5, bad, END], np.int32))


def test_the_compact_kernel_scores_as_its_plain_way(table):
    text = with_start_marks(zipf_units(5000, 3), START, END)
    real = text != START
    compact = table.compact()
    np.testing.assert_allclose(score_stream(compact, text)[real], score_stream_plainly(compact, text)[real], atol=2e-6)


def test_a_table_survives_being_named_tensors(table):
    for form in (table, table.compact()):
        again = Table.from_tensors(form.tensors(), START, END, 0)
        text = with_start_marks(zipf_units(500, 4), START, END)
        np.testing.assert_array_equal(score_stream_plainly(again, text), score_stream_plainly(form, text))


@pytest.mark.parametrize("scorer", [score_stream, score_stream_plainly])
def test_a_unit_begins_after_the_end_mark_whether_or_not_the_start_is_written_out(table, scorer):
    ids = zipf_units(3 * BLOCK, 5)
    marked = with_start_marks(ids, START, END)
    np.testing.assert_allclose(scorer(table, ids), scorer(table, marked)[marked != START], atol=2e-6)


def test_reading_the_end_mark_begins_a_new_unit(table):
    model = NGram(table)
    ids = np.array([[5, 6, END, 5, 6, 7]])
    state = model.start(1)
    for t in range(3):
        state = model.advance(state, ids[:, t])
    np.testing.assert_array_equal(model.log_probs(state), model.log_probs(model.start(1)))
    np.testing.assert_allclose(model.score(ids)[0, 3:], model.score(ids[:, 3:])[0], atol=1e-6)
