"""Batches and windows change nothing: every token has the log-probability that scoring its unit alone gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import Bigram, History, random_bigram

from chainrule.errors import ChainruleError
from chainrule.evaluation import scoring
from chainrule.evaluation.scoring import batches, token_log_probs, windows


def stream(lengths, vocabulary_size=7, seed=0):
    ids = np.random.default_rng(seed).integers(2, vocabulary_size, size=sum(lengths)).astype(np.uint16)
    return ids, np.cumsum(lengths)


def one_unit_at_a_time(model, ids, ends):
    units = np.split(ids.astype(np.int32), ends[:-1])
    return np.concatenate([model.score(unit[None])[0] for unit in units])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=15), st.integers(1, 20), st.integers(1, 40))
def test_every_token_is_scored_as_if_its_unit_were_alone(lengths, batch, window):
    ids, ends = stream(lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "BATCH", batch)
        patch.setattr(scoring, "WINDOW", window)
        for model in (History(7), random_bigram(7)):
            found = list(windows(model, ids, ends, pad=2))
            np.testing.assert_array_equal(np.concatenate([log_p for _, log_p in found]),
                                          one_unit_at_a_time(model, ids, ends))
            assert [first for first, _ in found] == np.cumsum([0, *(len(p) for _, p in found[:-1])]).tolist()


@settings(deadline=None)
@given(st.lists(st.integers(1, 90_000), min_size=1, max_size=50))
def test_a_batch_holds_each_row_once_and_not_too_many_tokens(lengths):
    lengths = np.array(lengths)
    found = list(batches(lengths))
    assert sorted(np.concatenate(found).tolist()) == list(range(len(lengths)))
    for rows in found:
        assert len(rows) == 1 or len(rows) * lengths[rows].max() <= scoring.BATCH


def test_a_long_unit_is_read_in_pieces_by_a_model_of_bounded_memory():
    model = random_bigram(7)
    ids, ends = stream([200_000, 3, 70_000])
    np.testing.assert_array_equal(token_log_probs(model, ids, ends, pad=2), one_unit_at_a_time(model, ids, ends))
    model.largest_batch = 0
    token_log_probs(model, ids, ends, pad=2)
    assert model.largest_batch == scoring.BATCH + model.context


class Streaming(Bigram):
    """Scores a stream as it lies: what follows an end mark follows <s>."""

    def score_units(self, ids):
        before = np.concatenate([[2], ids[:-1]])
        return self.log_p_VV[np.where(before == 2, self.start_id, before), ids]

    def score(self, ids):
        assert ids.shape[1] > scoring.BATCH, "only a long unit is scored by rows"
        return super().score(ids)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=15), st.integers(1, 40))
def test_a_model_that_scores_streams_gets_them_without_padding(lengths, window):
    ids, ends = stream(lengths)
    ids = np.where(np.isin(np.arange(len(ids)), ends - 1), 2, np.maximum(ids, 3)).astype(np.uint16)
    rows = random_bigram(7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "WINDOW", window)
        found = token_log_probs(Streaming(rows.log_p_VV), ids, ends, pad=2)
    np.testing.assert_array_equal(found, one_unit_at_a_time(rows, ids, ends))


def test_a_model_that_gives_nan_is_named_as_broken():
    model = random_bigram(7)
    model.log_p_VV = np.full((7, 7), np.nan)
    with pytest.raises(ChainruleError, match="the model gives NaN as a probability"):
        token_log_probs(model, *stream([3, 4]), pad=2)


def test_batches_of_short_units_are_full():
    """A window of lines of 1 to 40 words: fewer than a tenth of the scored positions are padding."""
    lengths = np.random.default_rng(0).integers(1, 41, size=50_000)
    found = list(batches(lengths))
    assert sum(len(rows) * lengths[rows].max() for rows in found) < 1.1 * lengths.sum()
