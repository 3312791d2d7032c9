"""Entropy pruning: against the relative entropy summed over the whole vocabulary, one n-gram at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.counting.count import count
from chainrule.counting.entropy_pruning import prune_by_entropy
from chainrule.counting.estimate import Marks, estimate
from chainrule.counting.model import NGram
from chainrule.counting.scratch import Scratch
from chainrule.counting.suffixes import spelled
from chainrule.errors import OptionError
from chainrule.recipe.registry import build, names

UNKNOWN, START, END, SIZE = 0, 1, 2, 9


def zipf_units(seed, tokens=400, units=40):
    words = np.minimum(np.random.default_rng(seed).zipf(1.4, tokens) + 2, SIZE - 1)
    return [part.tolist() for part in np.array_split(words, units)]


def table_of(units, order, method="modified_kneser_ney"):
    ids = np.array([w for unit in units for w in (*unit, END)], np.int32)
    return estimate(count(ids, order, SIZE, start=START, end=END), build("counting/smoothing", method),
                    Marks(START, END, UNKNOWN, True), prune=[0], scratch=Scratch(), held_out=ids[-50:],
                    say=lambda sentence: None)


def as_dictionaries(table):
    """n-gram → p and context → α."""
    p, alpha = {}, {}
    for n, level in enumerate(table.levels, start=1):
        grams = [tuple(row) for row in spelled(table, n, np.arange(len(level))).tolist()]
        p |= dict(zip(grams, np.exp(level.log_probs.astype(float)), strict=True))
        if level.backoffs is not None:
            alpha |= dict(zip(grams, np.exp(level.backoffs.astype(float)), strict=True))
    return p, alpha


def probability(p, alpha, h, w):
    if (*h, w) in p:
        return p[*h, w]
    return alpha.get(h, 1.0) * probability(p, alpha, h[1:], w)


def divergence(p, alpha, gram):
    """p(h) Σ_v p(v|h) ln p(v|h)/p′(v|h), where p′ has `gram` left out and its α normalized."""
    h = gram[:-1]
    without = {g: value for g, value in p.items() if g != gram}
    seen = [v for v in range(SIZE) if (*h, v) in without]
    left = 1 - sum(p[*h, v] for v in seen)
    rest = 1 - sum(probability(p, alpha, h[1:], v) for v in seen)
    changed = {**alpha, h: left / rest}
    p_h = 1.0
    for i, word in enumerate(h):
        p_h *= p[END,] if word == START else probability(p, alpha, h[:i], word)
    total = 0.0
    for v in range(SIZE):
        old, new = probability(p, alpha, h, v), probability(without, changed, h, v)
        total += old * np.log(old / new) if old > 0 else 0.0
    return p_h * total


def kept_by_the_definition(table, threshold):
    p, alpha = as_dictionaries(table)
    kept = {gram for gram in p if len(gram) == 1}
    for n in range(table.order, 1, -1):
        for gram in [g for g in p if len(g) == n]:
            change = np.expm1(divergence(p, alpha, gram))
            assert abs(change - threshold) > 1e-5 * threshold, "a tie: choose another threshold"
            if change >= threshold or any(longer[:n] == gram for longer in kept if len(longer) == n + 1):
                kept.add(gram)
    return kept


def rows(model, context):
    state = model.start(1)
    for word in context:
        state = model.advance(state, np.array([word]))
    return model.log_probs(state)[0]


@pytest.mark.parametrize("method", ["modified_kneser_ney", "good_turing", "witten_bell"])
@pytest.mark.parametrize("threshold", [1e-4, 5e-4, 5e-3])
def test_pruned_ngrams_are_those_of_the_definition(method, threshold):
    table = table_of(zipf_units(7), 3, method)
    pruned = prune_by_entropy(table, threshold)
    kept = kept_by_the_definition(table, threshold)
    assert set(as_dictionaries(pruned)[0]) == kept
    assert len(kept) < sum(map(len, table.levels))


def test_kept_ngrams_keep_their_probability():
    table = table_of(zipf_units(3), 4)
    before, after = as_dictionaries(table)[0], as_dictionaries(prune_by_entropy(table, 1e-3))[0]
    assert SIZE < len(after) < len(before)
    assert after == {gram: before[gram] for gram in after}


@pytest.mark.parametrize("method", names("counting/smoothing"))
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 5), st.floats(1e-7, 0.3), st.lists(st.integers(0, SIZE - 1), max_size=5))
def test_rows_of_a_pruned_model_sum_to_one(method, seed, order, threshold, context):
    model = NGram(prune_by_entropy(table_of(zipf_units(seed, 150, 12), order, method), threshold))
    assert np.exp(rows(model, context)).sum() == pytest.approx(1, abs=1e-6)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.floats(1e-7, 1e-1), st.floats(1e-7, 1e-1))
def test_pruning_a_pruned_model_works_where_suffixes_are_missing(seed, first, second):
    once = prune_by_entropy(table_of(zipf_units(seed, 150, 12), 4), first)
    model = NGram(prune_by_entropy(once, second))
    for context in ([], [3], [3, 4], [4, 3, 3], [5, 3, 4, 3]):
        assert np.exp(rows(model, context)).sum() == pytest.approx(1, abs=1e-6)


def test_the_perplexity_grows_with_the_threshold_and_slowly():
    table = table_of(zipf_units(11, 3000, 200), 3)
    text = np.array(zipf_units(11, 3000, 200)[0] + [END])[None]
    sizes, losses = [], []
    for threshold in (0.0, 1e-6, 1e-5, 1e-4, 1e-3):
        pruned = prune_by_entropy(table, threshold)
        sizes.append(sum(map(len, pruned.levels)))
        losses.append(-NGram(pruned).score(text).mean())
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] < sizes[0]
    assert losses[1] == pytest.approx(losses[0], abs=1e-3)


@pytest.mark.parametrize("threshold", [1e-4, 1e-3])
def test_the_entropy_lost_is_at_most_what_each_ngram_was_allowed_to_lose(threshold):
    """Measured by the model itself: contexts of one word, weighted by how often the model has them."""
    table = table_of(zipf_units(5, 2000, 100), 2)
    pruned = prune_by_entropy(table, threshold)
    removed = len(table.levels[1]) - len(pruned.levels[1])
    p = np.exp(table.levels[0].log_probs.astype(float))
    p[START] = p[END]
    lost = 0.0
    for word in range(SIZE):
        old, new = rows(NGram(table), [word]), rows(NGram(pruned), [word])
        possible = np.isfinite(old)
        lost += p[word] * (np.exp(old[possible]) * (old[possible] - new[possible])).sum()
    assert removed > 0 and 0 <= lost <= 2 * removed * threshold  # leaving out several at once is not quite additive


def test_a_threshold_of_zero_keeps_everything():
    table = table_of(zipf_units(1), 3)
    assert prune_by_entropy(table, 0) is table


def test_a_high_threshold_leaves_the_unigrams():
    assert [len(level) for level in prune_by_entropy(table_of(zipf_units(1), 3), 1e9).levels] == [SIZE, 0, 0]


@pytest.mark.parametrize("threshold", [-1e-9, float("nan"), float("inf")])
def test_a_threshold_that_is_no_fraction_is_refused(threshold):
    with pytest.raises(OptionError, match="model.prune_entropy = .*, expected 0 or more"):
        prune_by_entropy(table_of(zipf_units(1), 2), threshold)


def test_with_little_memory_the_arrays_lie_in_files_and_the_table_is_the_same(tmp_path, monkeypatch):
    """A stretch has a few n-grams only, so that many come together."""
    monkeypatch.setattr("chainrule.counting.entropy_pruning.CHUNK", 7)
    monkeypatch.setattr("chainrule.counting.suffixes.CHUNK", 7)
    table = table_of(zipf_units(3, 300, 12), 4)
    tight = prune_by_entropy(table, 1e-3, Scratch(1 << 20, tmp_path))
    monkeypatch.undo()
    roomy = prune_by_entropy(table, 1e-3)
    assert len(roomy.levels[-1]) < len(table.levels[-1])
    assert isinstance(tight.levels[-1].words.base, np.memmap) and not isinstance(roomy.levels[-1].words.base, np.memmap)
    for one, other in zip(tight.levels, roomy.levels, strict=True):
        for name in ("words", "log_probs", "backoffs", "starts"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
