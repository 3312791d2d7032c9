"""Contract: whatever the smoothing method, the text, the context and the pruning, probabilities sum to one."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chainrule.counting.count import count
from chainrule.counting.estimate import Marks, estimate
from chainrule.counting.model import NGram
from chainrule.counting.scratch import Scratch
from chainrule.recipe.registry import build, names

UNKNOWN, START, END, SIZE = 0, 1, 2, 7
METHODS = names("counting/smoothing")
PRUNES = ([0], [0, 0, 1], [0, 1, 1, 2])

words = st.integers(3, SIZE - 1)
texts = st.lists(st.lists(words, max_size=9), min_size=1, max_size=8)
texts_with_unknown = st.lists(st.lists(words | st.just(UNKNOWN), max_size=9), min_size=1, max_size=8)
contexts = st.lists(st.integers(0, SIZE - 1), max_size=6)
quick = settings(deadline=None, max_examples=60)


def stream(units):
    return np.array([w for unit in units for w in (*unit, END)], np.int32)


def model_of(method, units, order, *, prune=(0,), predicts_unknown=True):
    counts = count(stream(units), order, SIZE, start=START, end=END)
    marks = Marks(START, END, UNKNOWN, predicts_unknown)
    held_out = stream([[3, 4, 5], [4, 4], [6, 3, 4, 5, 3]])
    return NGram(estimate(counts, build("counting/smoothing", method), marks, prune=list(prune), scratch=Scratch(),
                          held_out=held_out, say=lambda sentence: None))


def row_after(model, context):
    state = model.start(1)
    for word in context:
        state = model.advance(state, np.array([word]))
    return model.log_probs(state)[0]


def check_row(model, context):
    row = row_after(model, context)
    assert np.exp(row).sum() == pytest.approx(1, abs=1e-6)
    assert row[START] == -np.inf
    for word in range(SIZE):
        scored = model.score(np.array([[*context, word]]))[0, -1]
        assert scored == row[word] or scored == pytest.approx(row[word], abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@quick
@given(texts_with_unknown, st.integers(1, 5), contexts)
@example([[3]], 5, [])
@example([[3] * 1000], 3, [3, 3])
@example([[3]] * 1000, 2, [3])
@example([[]], 3, [])
@example([[], [0, 0, 0], [0, 3, 0, 3, 3], [0, 0, 0], [0, 3, 4], [3, 3, 0, 3]], 1, [])  # 1 − Σp is −2·10⁻¹⁶
@example([[3, 4], [3, 5]], 5, [6, 3])
def test_every_row_sums_to_one_and_equals_the_scores(method, units, order, context):
    check_row(model_of(method, units, order), context)


@pytest.mark.parametrize("method", METHODS)
@quick
@given(texts_with_unknown, st.integers(1, 5), contexts)
def test_a_closed_vocabulary_never_predicts_the_unknown(method, units, order, context):
    model = model_of(method, units, order, predicts_unknown=False)
    check_row(model, context)
    assert row_after(model, context)[UNKNOWN] == -np.inf


@pytest.mark.parametrize("method", METHODS)
@quick
@given(texts_with_unknown, st.integers(1, 5), contexts, st.sampled_from(PRUNES), st.booleans())
def test_rows_of_a_pruned_model_sum_to_one(method, units, order, context, prune, predicts_unknown):
    check_row(model_of(method, units, order, prune=prune, predicts_unknown=predicts_unknown), context)


@pytest.mark.parametrize("method", METHODS)
@quick
@given(texts, st.integers(1, 4), st.lists(words, min_size=1, max_size=12))
def test_what_follows_a_token_never_changes_its_score(method, units, order, line):
    model = model_of(method, units, order)
    whole = model.score(np.array([line]))[0]
    for length in range(1, len(line) + 1):
        np.testing.assert_array_equal(model.score(np.array([line[:length]]))[0], whole[:length])


@pytest.mark.parametrize("method", METHODS)
def test_a_method_reports_what_it_learned_in_plain_values(method):
    import json

    part = build("counting/smoothing", method)
    counts = count(stream([[3, 4, 5], [3, 4]]), 3, SIZE, start=START, end=END)
    estimate(counts, part, Marks(START, END, UNKNOWN, True), prune=[0], scratch=Scratch(),
             held_out=stream([[3, 4]]), say=lambda sentence: None)
    assert json.loads(json.dumps(part.learned)) == part.learned
