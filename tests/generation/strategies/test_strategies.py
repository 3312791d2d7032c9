"""Strategies against exhaustive search, exact distributions and one another."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import History, random_bigram

from chainrule.errors import UsageError
from chainrule.generation.decoder import decode
from chainrule.generation.rows import Marks
from chainrule.generation.strategies.sample import Sample, invert
from chainrule.recipe.registry import build, names

MARKS = Marks(start=1, end=2, unknown=0)
NOTHING = np.zeros((1, 0), dtype=np.int32)


def run(model, strategy, *, max_tokens, prompts=NOTHING):
    return decode(model, prompts, build("generation/strategies", strategy), marks=MARKS, max_tokens=max_tokens)


def every_text(model, max_tokens):
    """(ids, ln p) of all that can be written: texts that end, and texts cut at `max_tokens`; none has 0 or 1."""
    for length in range(1, max_tokens + 1):
        for body in itertools.product(range(3, model.vocabulary_size), repeat=length - 1):
            lasts = range(2, model.vocabulary_size) if length == max_tokens else [2]
            for last in lasts:
                ids = (*body, last)
                yield ids, float(model.score(np.array([ids]))[0].sum())


def normalized(ids, log_p, alpha):
    return log_p / ((5 + len(ids)) / 6) ** alpha


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_beam_as_wide_as_all_texts_finds_the_best_ones(alpha, seed):
    model = History(6, seed, sharpness=2.0)
    best = sorted(every_text(model, 3), key=lambda pair: -normalized(*pair, alpha))
    found = run(model, {"name": "beam", "beams": len(best), "length_penalty": alpha}, max_tokens=3)[0]
    assert [draft.ids for draft in found] == [ids for ids, _ in best]
    np.testing.assert_allclose([draft.log_p for draft in found], [log_p for _, log_p in best])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from([0.0, 0.6, 3.0]))
def test_stopping_early_never_changes_what_a_beam_finds(seed, beams, alpha):
    """The search without its early stop, written as a plain loop over a list."""
    model = History(5, seed, sharpness=1.5)
    live, done = [((), 0.0)], []
    for _ in range(5):
        longer = [((*ids, id), log_p + float(model.row(ids)[id])) for ids, log_p in live for id in range(2, 5)]
        longer.sort(key=lambda pair: (-pair[1], pair[0]))
        done += [pair for pair in longer[:beams] if pair[0][-1] == 2]
        live = [pair for pair in longer if pair[0][-1] != 2][:beams]
    expected = sorted(done + live, key=lambda pair: (-normalized(*pair, alpha), pair[0]))[:beams]
    found = run(model, {"name": "beam", "beams": beams, "length_penalty": alpha}, max_tokens=5)[0]
    assert [draft.ids for draft in found] == [ids for ids, _ in expected]


def test_a_beam_stops_when_nothing_longer_can_win():
    table = np.log(np.full((5, 5), 1e-9))
    table[:, 2] = np.log(1 - 4e-9)  # the end mark all but certain
    model = random_bigram(5)
    model.log_p_VV, calls = table, []
    model.log_probs = lambda state: calls.append(len(state)) or table[state]
    found = run(model, {"name": "beam", "beams": 1, "length_penalty": 0.6}, max_tokens=1000)[0]
    assert found[0].ids == (2,)
    assert len(calls) <= 3


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_a_beam_of_one_without_normalization_is_greedy(seed):
    model = History(7, seed, sharpness=3.0)
    beam = {"name": "beam", "beams": 1, "length_penalty": 0.0}
    assert run(model, beam, max_tokens=8) == run(model, "greedy", max_tokens=8)


def test_each_prompt_has_a_beam_of_its_own():
    model = History(7, seed=5)
    prompts = np.array([[3, 4], [5, 6], [3, 3]])
    together = run(model, {"name": "beam", "beams": 3}, max_tokens=4, prompts=prompts)
    alone = [run(model, {"name": "beam", "beams": 3}, max_tokens=4, prompts=prompts[i : i + 1])[0] for i in range(3)]
    assert [[d.ids for d in found] for found in together] == [[d.ids for d in found] for found in alone]


def test_greedy_takes_the_likeliest_known_token_each_time():
    model = History(9, seed=4)
    draft = run(model, "greedy", max_tokens=6)[0][0]
    for t, id in enumerate(draft.ids):
        row = model.row(draft.ids[:t])
        row[0] = -np.inf
        assert id == row.argmax()


def test_samples_have_the_model_s_distribution():
    """Two tokens deep, 4,000 draws: a χ² of 25 degrees of freedom is above 60 once in 10,000 times."""
    model = History(7, seed=1)
    drafts = [d for found in run(model, "sample", max_tokens=2, prompts=np.zeros((4000, 0))) for d in found]
    expected = {}
    for first in range(2, 7):
        p = np.exp(model.row(()))
        p_first = p[first] / p[2:].sum()
        if first == 2:
            expected[(2,)] = p_first
            continue
        q = np.exp(model.row((first,)))
        expected |= {(first, second): p_first * q[second] / q[2:].sum() for second in range(2, 7)}
    assert abs(sum(expected.values()) - 1) < 1e-9
    seen = {ids: sum(d.ids == ids for d in drafts) for ids in expected}
    assert sum(seen.values()) == 4000
    assert sum((seen[ids] - 4000 * p) ** 2 / (4000 * p) for ids, p in expected.items()) < 60


@settings(deadline=None)
@given(st.lists(st.sampled_from([-np.inf, -700, -3, 0]), min_size=1, max_size=9), st.floats(0, 1, exclude_max=True))
def test_only_what_is_possible_is_drawn(row, u):
    id = int(invert(np.array([row]), np.array([[u]]))[0])
    assert row[id] > -np.inf or all(value == -np.inf for value in row)


def test_the_largest_number_below_one_draws_the_last_possible_token():
    row = np.array([[np.log(0.1)] * 10 + [-np.inf]])
    assert invert(row, np.array([[np.nextafter(1, 0)]])).tolist() == [9]
    assert invert(row, np.array([[0.0]])).tolist() == [0]


@pytest.mark.parametrize("name", names("generation/strategies"))
def test_a_model_without_possible_tokens_ends_stuck(name):
    """Every strategy, present or future."""
    model = random_bigram(5)
    model.log_p_VV = np.full((5, 5), -np.inf)
    model.log_p_VV[:4, 4] = 0.0  # after token 4 nothing is possible
    found = run(model, name, max_tokens=9)[0]
    assert [(draft.ids, draft.reason) for draft in found] == [((4,), "stuck")]


@pytest.mark.parametrize(("choice", "message"), [
    ({"name": "beam", "beams": 0}, r"beams = 0, expected at least 1."),
    ({"name": "beam", "length_penalty": -1.0}, r"length_penalty = -1.0, expected 0 or more. 0 ranks by ln p alone."),
    ({"name": "sample", "seed": -1}, r"seed = -1, expected between 0 and 2\^64"),
    ({"name": "beams"}, r"no strategy named 'beams'. Did you mean 'beam'"),
])
def test_an_invalid_strategy_is_refused(choice, message):
    with pytest.raises(UsageError, match=message):
        build("generation/strategies", choice)


def test_a_row_draws_one_number_of_its_own_for_each_position():
    """By the definition: a generator whose key is the seed and the row, and whose counter is the position."""
    strategy = Sample(seed=5)
    for row, position in [(0, 0), (3, 0), (3, 63), (3, 64), (7, 1000)]:
        key = np.array([5, row], dtype=np.uint64)
        expected = np.random.Generator(np.random.Philox(key=key, counter=position)).random()
        assert strategy.draws(np.array([row]), np.array([[position]])).tolist() == [[expected]]
