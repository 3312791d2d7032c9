"""Counts of tags and words, interpolation and endings against plain loops over their definitions."""

import itertools
from collections import Counter

import numpy as np
import pytest

from chainrule.counting.hidden_markov.counts import FLAGS, counted, flag
from chainrule.counting.hidden_markov.endings import learned
from chainrule.counting.hidden_markov.transitions import UNSEEN, interpolated

SPELLED = ["The/DET old/ADJ dog/NOUN sleeps/VERB", "Dogs/NOUN sleep/VERB", "", "old/ADJ dogs/NOUN sleep/VERB",
           "the/DET cat/NOUN and/CCONJ the/DET dog/NOUN sleep/VERB", "sleep/NOUN"]
SENTENCES = [tuple([each.split("/")[place] for each in line.split()] for place in (0, 1)) for line in SPELLED * 3]


def lines(counts):
    """States of each sentence, with boundaries."""
    number = {tag: n for n, tag in enumerate(counts.tags)}
    return [[counts.states] * 2 + [FLAGS * number[tag] + flag(word) for word, tag in zip(words, tags, strict=True)]
            + [counts.states] for words, tags in SENTENCES if words]


def test_every_trigram_and_word_is_counted():
    counts = counted(SENTENCES)
    expected = Counter(triple for line in lines(counts) for triple in zip(line, line[1:], line[2:], strict=False))
    found = {tuple(row): count for row, count in zip(counts.trigrams_R3.tolist(), counts.trigram_counts.tolist(),
                                                     strict=True)}
    assert found == expected
    words = Counter(pair for words, tags in SENTENCES for pair in zip(words, tags, strict=True))
    assert {(counts.words[row], counts.tags[counts.word_tags[n]]): counts.word_counts[n] for row in range(
        len(counts.words)) for n in range(counts.starts[row], counts.starts[row + 1])} == words
    assert list(counts.tags) == sorted(counts.tags) and list(counts.words) == sorted(counts.words)


def by_the_definition(counts, order, weights, a, b):
    """p(· | a, b), one state at a time; shorter contexts share the weight of one that never occurs."""
    all_lines, size = lines(counts), counts.states + 1
    def f(*states):
        return sum(tuple(line[n:n + len(states)]) == states for line in all_lines for n in range(
            3 - len(states), len(line) - len(states) + 1))
    total = sum(len(line) - 2 for line in all_lines)
    def follows(*context):
        return sum(f(*context, state) for state in range(size))
    found = []
    for c in range(size):
        parts = [(f(c) + UNSEEN) / (total + UNSEEN * size)]
        for context in [(b,), (a, b)][:order - 1]:
            if seen := follows(*context):
                parts.append(f(*context, c) / seen)
        share = np.array(weights[:len(parts)])
        found.append(share @ parts / share.sum())
    return found


@pytest.mark.parametrize("order", [1, 2, 3])
def test_interpolation_follows_its_definition(order):
    counts = counted(SENTENCES)
    weights = [0.2, 0.3, 0.5][:order]
    chain = interpolated(counts, order, weights)
    size = counts.states + 1
    for a, b in itertools.product(range(0, size, 2), range(size)):
        if b == counts.states and a != b:
            continue  # nothing follows the end
        p = np.exp(chain.log_p_RS[chain.row_SS[a, b]])
        np.testing.assert_allclose(p, by_the_definition(counts, order, weights, a, b), rtol=1e-9)
        assert p.sum() == pytest.approx(1)


def test_deleted_interpolation_votes_as_brants_says():
    """One trigram at a time, as in figure 1 of his paper."""
    counts = counted(SENTENCES)
    all_lines = lines(counts)
    f = [Counter(tuple(line[n:n + size]) for line in all_lines for n in range(3 - size, len(line) - size + 1))
         for size in (1, 2, 3)]
    before = Counter(line[n] for line in all_lines for n in range(1, len(line) - 1))
    pairs = Counter((line[n], line[n + 1]) for line in all_lines for n in range(len(line) - 2))
    total, votes = sum(f[0].values()), [1.0, 1.0, 1.0]
    for (a, b, c), count in f[2].items():
        choices = [(f[0][c,] - 1) / (total - 1), (f[1][b, c] - 1) / max(before[b] - 1, 1),
                   (count - 1) / max(pairs[a, b] - 1, 1)]
        votes[int(np.argmax(choices))] += count
    np.testing.assert_allclose(interpolated(counts, 3).weights, np.array(votes) / sum(votes))


@pytest.mark.parametrize(("rare", "word"), [(100, "deep"), (6, "frogs"), (6, "bat"), (100, "Legs")])
def test_endings_follow_their_definition(rare, word):
    counts = counted(SENTENCES)
    pairs = Counter(pair for words, tags in SENTENCES for pair in zip(words, tags, strict=True))
    often = Counter(each for words, _ in SENTENCES for each in words)
    own = {pair: count for pair, count in pairs.items() if flag(pair[0]) == flag(word)}

    def tags_of(ending, most):
        return np.array([sum(count for (each, other), count in own.items() if other == tag and often[each] <= most
                             and each.endswith(ending)) for tag in counts.tags], float)

    p = tags_of("", 10**9)
    p /= p.sum()
    for ending in ("", word[-1], word[-2:]):
        hits = tags_of(ending, rare)
        p = (hits + 5 * p) / (hits.sum() + 5)
    found = learned(counts, longest=2, rare=rare, strength=5.0)
    np.testing.assert_allclose(found.tags_of(word), p)
    assert p.sum() == pytest.approx(1)


def test_endings_that_no_rare_word_has_say_nothing():
    found = learned(counted(SENTENCES), longest=2, rare=6, strength=5.0)  # `sleep` occurs more often
    np.testing.assert_allclose(found.tags_of("reap"), found.tags_of("zzz"))
    assert [(ending, count) for ending, count, _ in found.along("frogs")] == [("", 30), ("s", 6), ("gs", 3)]


def test_capitals_and_digits_of_endings():
    sentences = [(["Rome", "in", "1999", "12"], ["PROPN", "ADP", "NUM", "NUM"])] * 2
    found = learned(counted(sentences), longest=4, rare=10, strength=1.0)
    tags = counted(sentences).tags
    assert tags[int(found.tags_of("2007").argmax())] == "NUM" and tags[int(found.tags_of("Come").argmax())] == "PROPN"
    assert found.along("2007")[-1][0] == "0000"
