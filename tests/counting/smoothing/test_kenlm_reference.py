"""Modified Kneser–Ney against KenLM's lmplz: every n-gram and back-off, and perplexities of a held-out text."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from chainrule.counting.count import count, with_start_marks
from chainrule.counting.estimate import Marks, estimate
from chainrule.counting.query import score_stream_plainly
from chainrule.counting.scratch import Scratch
from chainrule.counting.suffixes import spelled
from chainrule.recipe.registry import build

FOLDER = Path(__file__).parents[4] / "shared" / "reference" / "kenlm"
UNKNOWN, START, END = 0, 1, 2
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="KenLM's reference files are not beside this checkout")


class Reference:
    """A text of the reference folder as ids, numbered as lmplz does."""

    def __init__(self, name):
        self.spelling = {"<unk>": UNKNOWN, "<s>": START, "</s>": END}
        lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        self.ids = np.array([self.spelling.setdefault(w, len(self.spelling)) for line in lines
                             for w in (*line.split(), "</s>")], np.int32)

    def held_out(self, name):
        lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        return np.array([self.spelling.get(w, UNKNOWN) for line in lines for w in (*line.split(), "</s>")], np.int32)

    def table(self, order, prune=(0,), method="modified_kneser_ney"):
        counts = count(self.ids, order, len(self.spelling), start=START, end=END)
        said: list[str] = []
        table = estimate(counts, build("counting/smoothing", method), Marks(START, END, UNKNOWN, True),
                         prune=list(prune), scratch=Scratch(), say=said.append)
        return table, said


def arpa_of(name):
    """n-gram → (log₁₀ p, log₁₀ back-off), read line by line."""
    found = {}
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 1:
                found[tuple(fields[1].split(" "))] = float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0
    return found


def ours(reference, table):
    words = list(reference.spelling)
    found = {}
    for n, level in enumerate(table.levels, start=1):
        grams = [tuple(words[i] for i in row) for row in spelled(table, n, np.arange(len(level))).tolist()]
        log_probs = level.log_probs / np.log(10)
        backoffs = level.backoffs / np.log(10) if level.backoffs is not None else np.zeros(len(level))
        found |= dict(zip(grams, zip(log_probs.tolist(), backoffs.tolist(), strict=True), strict=True))
    return found


def check_same(mine, theirs):
    assert mine.keys() == theirs.keys()
    assert theirs["<s>",][0] == 0 and mine["<s>",][0] == -np.inf  # never predicted; ARPA files print 0
    grams = sorted(mine.keys() - {("<s>",)})
    np.testing.assert_allclose([mine[g] for g in grams], [theirs[g] for g in grams], rtol=0, atol=1e-5)
    assert mine["<s>",][1] == pytest.approx(theirs["<s>",][1], abs=1e-5)


def perplexities(table, held_out):
    """Including and excluding unknown words, the tokens of the text counted with </s>."""
    text = with_start_marks(held_out, START, END)
    scores = score_stream_plainly(table, text)
    predicted, known = text != START, (text != START) & (text != UNKNOWN)
    return np.exp(-scores[predicted].mean()), np.exp(-scores[known].mean())


@pytest.mark.parametrize(("file", "order", "prune"), [
    ("small.o1.arpa.gz", 1, [0]), ("small.o2.arpa.gz", 2, [0]), ("small.o3.arpa.gz", 3, [0]),
    ("small.o5.arpa.gz", 5, [0]),
    ("small.o3.prune001.arpa.gz", 3, [0, 0, 1]), ("small.o5.prune0112.arpa.gz", 5, [0, 1, 1, 2]),
])
def test_every_ngram_and_backoff_is_that_of_lmplz(file, order, prune):
    small = Reference("small.txt")
    table, said = small.table(order, prune)
    assert said == []
    check_same(ours(small, table), arpa_of(file))


@pytest.mark.parametrize(("order", "prune", "including", "excluding"), [
    (2, [0], 108.9047, 87.0859), (3, [0], 95.3024, 75.7031), (5, [0], 93.8974, 74.6438),
    (3, [0, 0, 1], 98.6791, 78.7013), (5, [0, 1, 1, 2], 110.3232, 89.0608),
])
def test_the_perplexity_of_held_out_text_is_that_of_kenlm(order, prune, including, excluding):
    small = Reference("small.txt")
    held_out = small.held_out("small-test.txt")
    assert (len(held_out), int((held_out == UNKNOWN).sum())) == (6714, 247)
    assert perplexities(small.table(order, prune)[0], held_out) == pytest.approx((including, excluding), abs=1e-3)


def test_unigrams_that_are_not_interpolated_leave_the_rest_to_the_unknown():
    small = Reference("small.txt")
    table, _ = small.table(3, method={"name": "modified_kneser_ney", "interpolate_unigrams": False})
    check_same(ours(small, table), arpa_of("small.o3.nounigraminterp.arpa.gz"))
    expected = pytest.approx((75.7439, 80.8725), abs=1e-3)
    assert perplexities(table, small.held_out("small-test.txt")) == expected


def test_a_toy_text_falls_back_to_the_discounts_of_lmplz():
    """At every order, as `lmplz --discount_fallback` does; its quirk with the very last n-gram changes nothing here."""
    cows = Reference("cows.txt")
    table, said = cows.table(3)
    assert said == ["too little text to learn the discounts of orders 1 to 3; taking 0.5, 1 and 1.5."]
    check_same(ours(cows, table), arpa_of("cows.o3.fallback.arpa.gz"))
