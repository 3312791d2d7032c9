"""Each smoothing method against a slow dictionary implementation written from its equation."""

from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest

from chainrule.counting.count import count
from chainrule.counting.estimate import Marks, estimate
from chainrule.counting.model import NGram
from chainrule.counting.scratch import Scratch
from chainrule.errors import OptionError
from chainrule.recipe.registry import build

UNKNOWN, START, END, SIZE = 0, 1, 2, 1009
WORDS = [w for w in range(SIZE) if w != START]  # what can be predicted
SAMPLE = [*WORDS[:40], *WORDS[100::100]]
COWS = """the cows eat grass
our cows eat hay daily
factory-farm cows eat corn
on an organic farm cows eat hay and
do your cows eat grass or corn
what do cows eat if they have
cows eat corn when there is no
which cows eat which foods depends
if cows eat grass
when cows eat corn their stomachs
should we let cows eat corn"""


def zipf_units(seed=7, tokens=2500, units=200):
    draws = np.random.default_rng(seed).zipf(1.6, 2 * tokens) + 2
    return [part.tolist() for part in np.array_split(draws[draws < SIZE][:tokens], units)]


def stream(units):
    return np.array([w for unit in units for w in (*unit, END)], np.int32)


def fitted(choice, units, order, held_out=None):
    said: list[str] = []
    part = build("counting/smoothing", choice)
    table = estimate(count(stream(units), order, SIZE, start=START, end=END), part, Marks(START, END, UNKNOWN, True),
                     prune=[0], scratch=Scratch(), held_out=held_out, say=said.append)
    return NGram(table), part, said


def raw_counts(units, order):
    """h → w → c(hw), for h of up to order − 1 words."""
    found = defaultdict(Counter)
    for unit in units:
        text = (START, *unit, END)
        for i in range(1, len(text)):
            for n in range(min(order - 1, i) + 1):
                found[text[i - n:i]][text[i]] += 1
    return found


def continuation_counts(units, order):
    """h → w → the distinct words before hw, but c(hw) for the longest h and after <s>."""
    raw, found = raw_counts(units, order), defaultdict(Counter)
    for h, following in raw.items():
        if len(h) == order - 1 or h[:1] == (START,):
            found[h] = following
        if h:
            for w in following:
                if h[1:][:1] != (START,):
                    found[h[1:]][w] += 1
    return found


def counts_of_counts(found, n):
    return Counter(c for h, following in found.items() if len(h) == n - 1 for c in following.values())


def slow_maximum_likelihood(units, order):
    c = raw_counts(units, order)

    def p(w, h):
        return c[h][w] / c[h].total() if h in c else p(w, h[1:])
    return p


def slow_additive(units, order, delta):
    c = raw_counts(units, order)
    return lambda w, h: (c[h][w] + delta) / (c[h].total() + delta * len(WORDS))


def slow_witten_bell(units, order):
    c = raw_counts(units, order)

    def p(w, h):
        lower = p(w, h[1:]) if h else 1 / len(WORDS)
        return (c[h][w] + len(c[h]) * lower) / (c[h].total() + len(c[h])) if h in c else lower
    return p


def slow_jelinek_mercer(units, order, weights):
    c = raw_counts(units, order)

    def p(w, h):
        lower = p(w, h[1:]) if h else 1 / len(WORDS)
        weight = weights[len(h)]
        return weight * c[h][w] / c[h].total() + (1 - weight) * lower if h in c else lower
    return p


def slow_discounting(c, discount):
    """`discount(n, count)` is what is taken from a count at order n."""
    def p(w, h):
        lower = p(w, h[1:]) if h else 1 / len(WORDS)
        if h not in c:
            return lower
        n, total = len(h) + 1, c[h].total()
        freed = sum(discount(n, a) for a in c[h].values()) / total
        return (max(c[h][w] - discount(n, c[h][w]), 0) / total if c[h][w] else 0) + freed * lower
    return p


def slow_single_discounts(c):
    def discount(n, _):
        seen = counts_of_counts(c, n)
        return seen[1] / (seen[1] + 2 * seen[2])
    return cache(discount)


def slow_three_discounts(c):
    def discount(n, a):
        seen, j = counts_of_counts(c, n), min(a, 3)
        return j - (j + 1) * seen[1] / (seen[1] + 2 * seen[2]) * seen[j + 1] / seen[j]
    return cache(discount)


def slow_katz(units, order, k):
    c = raw_counts(units, order)

    @cache
    def factor(n, r):
        seen = counts_of_counts(c, n)
        beyond = (k + 1) * seen[k + 1] / seen[1]
        return ((r + 1) * seen[r + 1] / (r * seen[r]) - beyond) / (1 - beyond) if r <= k else 1.0

    def seen_p(w, h):
        kept = sum(factor(len(h) + 1, r) * r for r in c[h].values())
        nothing_left = kept > c[h].total() - 1e-9
        return factor(len(h) + 1, c[h][w]) * c[h][w] / (c[h].total() + nothing_left)

    @cache
    def p(w, h):
        if h not in c:
            return p(w, h[1:])
        if c[h][w]:
            return seen_p(w, h)
        left = 1 - sum(seen_p(v, h) for v in c[h])
        if not h:
            return left / sum(v not in c[h] for v in WORDS)
        return left / (1 - sum(p(v, h[1:]) for v in c[h])) * p(w, h[1:])
    return p


def expected_of(name, units, order):
    raw, continued = raw_counts(units, order), continuation_counts(units, order)
    return {
        "maximum_likelihood": lambda: slow_maximum_likelihood(units, order),
        "additive": lambda: slow_additive(units, order, 1.0),
        "witten_bell": lambda: slow_witten_bell(units, order),
        "good_turing": lambda: slow_katz(units, order, 5),
        "absolute_discounting": lambda: slow_discounting(raw, slow_single_discounts(raw)),
        "kneser_ney": lambda: slow_discounting(continued, slow_single_discounts(continued)),
        "modified_kneser_ney": lambda: slow_discounting(continued, slow_three_discounts(continued)),
    }[name]()


def check(model, expected, order):
    """Every word after some seen and some unseen contexts, with and without <s>."""
    contexts = [[], [3], [4, 3], [3, 3, 4], [5, 6, 7], [900, 3], [UNKNOWN, 4, 3], [3, 4, 5, 3, 3], [9, 9, 9, 9]]
    for context in contexts:
        text = (START, *context)
        h = text[len(text) - min(order - 1, len(text)):]
        state = model.start(1)
        for word in context:
            state = model.advance(state, np.array([word]))
        row = np.exp(model.log_probs(state)[0])
        np.testing.assert_allclose(row[SAMPLE], [expected(w, h) for w in SAMPLE], rtol=3e-6, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["maximum_likelihood", "additive", "witten_bell", "absolute_discounting", "kneser_ney",
                                  "modified_kneser_ney"])
def test_agrees_with_its_equation(name, order):
    units = zipf_units()
    model, _, said = fitted(name, units, order)
    check(model, expected_of(name, units, order), order)
    assert said == []


@pytest.mark.parametrize("order", [2, 3])
def test_good_turing_agrees_with_its_equation(order):
    units = zipf_units(seed=1, tokens=6000)
    model, part, said = fitted({"name": "good_turing", "cutoff": 3}, units, order)
    assert all(factors is not None and len(factors) == 4 for factors in part.factors) and said == []
    check(model, slow_katz(units, order, 3), order)


@pytest.mark.parametrize("delta", [0.01, 0.5, 3.0])
def test_lidstone_adds_delta_to_every_count(delta):
    model, _, _ = fitted({"name": "additive", "delta": delta}, zipf_units(), 3)
    check(model, slow_additive(zipf_units(), 3, delta), 3)


@pytest.mark.parametrize("name", ["absolute_discounting", "kneser_ney"])
def test_a_given_discount_is_taken_at_every_order(name):
    units = zipf_units()
    c = raw_counts(units, 3) if name == "absolute_discounting" else continuation_counts(units, 3)
    model, part, _ = fitted({"name": name, "discount": 0.3}, units, 3)
    check(model, slow_discounting(c, lambda n, a: 0.3), 3)
    assert part.learned == {"discounts": [0.3, 0.3, 0.3]}


def test_fixed_interpolation_weights_are_used_as_given():
    weights = [0.9, 0.5, 0.2]
    model, part, _ = fitted({"name": "jelinek_mercer", "weights": weights}, zipf_units(), 3)
    check(model, slow_jelinek_mercer(zipf_units(), 3, weights), 3)
    assert part.learned == {"weights": weights}


def slow_em(units, held_out, order, rounds):
    """λ by (order, ⌊log₂ c(h·)⌋), one held-out token at a time."""
    c = raw_counts(units, order)
    weights = defaultdict(lambda: 0.5)
    for _ in range(rounds):
        stops, visits = Counter(), Counter()
        for unit in held_out:
            text = (START, *unit, END)
            for i in range(1, len(text)):
                contexts = [text[i - n:i] for n in range(min(order - 1, i) + 1) if text[i - n:i] in c]
                buckets = [(len(h) + 1, c[h].total().bit_length() - 1) for h in contexts]
                frequencies = [c[h][text[i]] / c[h].total() for h in contexts]
                p = [1 / len(WORDS)]
                for bucket, f in zip(buckets, frequencies, strict=True):
                    p.append(weights[bucket] * f + (1 - weights[bucket]) * p[-1])
                arriving = 1.0
                for j in reversed(range(len(buckets))):
                    stopped = arriving * weights[buckets[j]] * frequencies[j] / p[j + 1]
                    stops[buckets[j]] += stopped
                    visits[buckets[j]] += arriving
                    arriving -= stopped
        weights.update({bucket: stops[bucket] / visits[bucket] for bucket in visits})
    return weights


def test_interpolation_weights_are_those_of_expectation_maximization():
    units, held_out = zipf_units(), zipf_units(seed=8, tokens=300, units=30)
    _, part, _ = fitted({"name": "jelinek_mercer", "rounds": 4, "tolerance": 0.0}, units, 3, stream(held_out))
    for (n, bucket), weight in slow_em(units, held_out, 3, rounds=4).items():
        assert part.weights_NB[n - 1, bucket] == pytest.approx(weight, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_held_out_likelihood_never_falls(seed):
    held_out = stream(zipf_units(seed=seed + 50, tokens=200, units=9))
    model, part, _ = fitted({"name": "jelinek_mercer", "tolerance": 0.0}, zipf_units(seed), 4, held_out)
    curve = np.array(part.learned["log_likelihood"])
    assert len(curve) > 5 and (np.diff(curve) >= -1e-12).all()
    scores = [model.score(np.array([unit + [END]])) for unit in zipf_units(seed=seed + 50, tokens=200, units=9)]
    assert np.concatenate(scores, axis=1).mean() == pytest.approx(curve[-1], abs=1e-6)


def test_learning_stops_when_a_round_gains_less_than_the_tolerance():
    held_out = stream(zipf_units(seed=8, tokens=300))
    _, part, _ = fitted({"name": "jelinek_mercer", "tolerance": 1e-3}, zipf_units(), 3, held_out)
    gains = np.diff(part.learned["log_likelihood"])
    assert gains[-1] < 1e-3 and (gains[:-1] >= 1e-3).all()


@pytest.mark.parametrize("held_out", [None, np.zeros(0, np.int32)])
def test_interpolation_without_held_out_text_asks_for_it(held_out):
    with pytest.raises(OptionError, match=r"jelinek_mercer.weights = None, expected held-out text.*split.valid=0.1"):
        fitted("jelinek_mercer", zipf_units(), 3, held_out)


def test_cows_eat_by_maximum_likelihood():
    spelling = {"<unk>": UNKNOWN, "<s>": START, "</s>": END}
    units = [[spelling.setdefault(w, len(spelling)) for w in line.split()] for line in COWS.splitlines()]
    model, _, _ = fitted("maximum_likelihood", units, 3)
    state = model.start(1)
    for word in ("cows", "eat"):
        state = model.advance(state, np.array([spelling[word]]))
    row = np.exp(model.log_probs(state)[0])
    expected = {"corn": 4, "grass": 3, "hay": 2, "if": 1, "which": 1}
    seen = {word: row[spelling[word]] for word in spelling if row[spelling[word]] > 0}
    assert seen == pytest.approx({word: times / 11 for word, times in expected.items()}, rel=1e-6)


@pytest.mark.parametrize(("name", "sentence"), [
    ("absolute_discounting", "too little text to learn the discount of orders 1 and 2; taking 0.5."),
    ("kneser_ney", "too little text to learn the discount of orders 1 and 2; taking 0.5."),
    ("good_turing", "too little text to learn the Good–Turing discounts of orders 1 and 2; taking 0.5 from every "
                    "count."),
    ("modified_kneser_ney", "too little text to learn the discounts of orders 1 and 2; taking 0.5, 1 and 1.5."),
])
def test_too_little_text_for_discounts_is_reported_once_for_all_orders(name, sentence):
    _, _, said = fitted(name, [[3]], 2)
    assert said == [sentence]


def test_orders_are_listed_in_words():
    from chainrule.counting.smoothing._method import named_orders

    assert [named_orders(each) for each in ([3], [1, 2], [2, 3, 4], [1, 3], [1, 3, 4])] == [
        "order 3", "orders 1 and 2", "orders 2 to 4", "orders 1 and 3", "orders 1, 3 and 4"]


def test_good_turing_reports_each_lowered_cutoff_once_with_its_orders():
    from types import SimpleNamespace

    from chainrule.counting.smoothing.good_turing import GoodTuring

    enough, some = np.array([0, 100, 40, 20, 12, 8, 6, 4, 3]), np.array([0, 100, 40, 20, 0, 0, 0, 0, 0])
    none, said = np.zeros(9, np.int64), []
    method = GoodTuring(cutoff=2)
    method.fit(SimpleNamespace(count_of_counts=[some, none, some, none], say=said.append))
    assert len(said) == 1 and "to learn the Good–Turing discounts of orders 2 and 4; taking 0.5 from" in said[0]
    GoodTuring().fit(SimpleNamespace(count_of_counts=[enough, some, none, some], say=said.append))
    assert said[1:] == ["too little text to learn the Good–Turing discounts of order 3; taking 0.5 from every count.",
                        "too little text for Good–Turing discounts up to 5 at orders 2 and 4; discounting counts up to "
                        "2."]


def test_good_turing_lowers_its_cutoff_before_it_gives_up():
    from chainrule.counting.smoothing.good_turing import usable_factors

    seen = np.array([0, 100, 40, 20, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(usable_factors(seen, 5), [1, (0.8 - 0.6) / 0.4, (0.75 - 0.6) / 0.4], rtol=1e-12)
    assert usable_factors(np.array([0, 5, 4, 3, 3, 3, 3, 3, 3]), 5) is None


@pytest.mark.parametrize(("choice", "message"), [
    ({"name": "additive", "delta": 0.0}, r"additive.delta = 0.0, expected a number above 0"),
    ({"name": "absolute_discounting", "discount": 1.5}, r"absolute_discounting.discount = 1.5, expected above 0"),
    ({"name": "kneser_ney", "discount": 0.0}, r"kneser_ney.discount = 0.0, expected above 0 and at most 1"),
    ({"name": "good_turing", "cutoff": 8}, r"good_turing.cutoff = 8, expected 2 to 7"),
    ({"name": "jelinek_mercer", "weights": [1.1]}, r"jelinek_mercer.weights = \[1.1\], expected numbers from 0 to 1"),
    ({"name": "jelinek_mercer", "weights": [0.5]}, r"jelinek_mercer.weights = \[0.5\], expected 2 numbers"),
    ({"name": "jelinek_mercer", "rounds": 0}, r"jelinek_mercer.rounds = 0, expected at least 1"),
])
def test_an_option_out_of_range_is_named(choice, message):
    with pytest.raises(OptionError, match=message):
        fitted(choice, [[3]], 2, stream([[3]]))
