"""Viterbi and forward–backward over pairs of states against every sequence of states, one by one."""

import itertools

import numpy as np
import pytest

from chainrule.counting.hidden_markov.lattice import best, posteriors
from chainrule.counting.hidden_markov.transitions import Transitions


def random_chain(draw, states):
    """p(c | a, b) with a row for every pair; the boundary is the last state."""
    size = states + 1
    p = draw.dirichlet(np.full(size, 0.5), size * size)
    return Transitions(np.log(p), np.arange(size * size).reshape(size, size), np.log(p.mean(axis=0)), (1.0,))


def random_words(draw, states, length):
    """Each word allows some of the states."""
    found = []
    for _ in range(length):
        allowed = np.sort(draw.choice(states, draw.integers(1, states + 1), replace=False))
        found.append((allowed, np.log(draw.random(len(allowed)))))
    return found


def every(chain, words):
    """p(words, states) of each sequence of states, straight from the equation."""
    found = {}
    for places in itertools.product(*(range(len(states)) for states, _ in words)):
        states = [int(own[place]) for (own, _), place in zip(words, places, strict=True)]
        line = [chain.boundary, chain.boundary, *states, chain.boundary]
        log_p = sum(log_e[place] for (_, log_e), place in zip(words, places, strict=True))
        log_p += sum(chain.log_p_RS[chain.row_SS[a, b], c] for a, b, c in zip(line, line[1:], line[2:], strict=False))
        found[tuple(states)] = np.exp(log_p)
    return found


@pytest.mark.parametrize("states", [1, 2, 3, 5])
@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_agree_with_every_sequence(states, length):
    draw = np.random.default_rng([states, length])
    for _ in range(10):
        chain, words = random_chain(draw, states), random_words(draw, states, length)
        expected = every(chain, words)
        assert tuple(best(chain, words)) == max(expected, key=expected.__getitem__)
        found, log_p = posteriors(chain, words)
        assert log_p == pytest.approx(np.log(sum(expected.values())))
        for t, (allowed, _) in enumerate(words):
            marginal = [sum(p for line, p in expected.items() if line[t] == state) for state in allowed]
            np.testing.assert_allclose(found[t], np.array(marginal) / sum(expected.values()))


def test_no_words_have_no_states():
    chain = random_chain(np.random.default_rng(0), 2)
    assert best(chain, []) == [] and posteriors(chain, []) == ([], 0.0)


def test_a_long_sentence_does_not_underflow():
    draw = np.random.default_rng(0)
    chain, words = random_chain(draw, 3), random_words(draw, 3, 3000)
    found, log_p = posteriors(chain, words)
    assert np.isfinite(log_p) and log_p < -1000 and all(own.sum() == pytest.approx(1) for own in found)
