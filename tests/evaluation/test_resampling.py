"""What the bootstrap draws, and that one command's interval is the other's."""

import numpy as np
import pytest
from toys import Words, encoded, random_bigram

import chainrule
from chainrule.evaluation.evaluate import evaluate
from chainrule.evaluation.resampling import drawn, first_lines, stretch_bytes
from chainrule.evaluation.totals import unit_totals

WORDS = Words(["the", "cat", "sat", "on"])
MODEL = random_bigram(7)


def test_many_documents_are_drawn_as_they_are():
    text = encoded(WORDS, ["the cat sat", "on"] * 10)
    np.testing.assert_array_equal(drawn(MODEL, WORDS, text, "document").nll, unit_totals(MODEL, WORDS, text).nll)


def test_lines_are_drawn_with_their_neighbors_and_none_is_cut():
    text = encoded(WORDS, ["the cat sat on", "on the cat"] * 500)
    lines, found = unit_totals(MODEL, WORDS, text), drawn(MODEL, WORDS, text, "line")
    assert 30 <= len(found.nll) <= 50
    firsts = first_lines(text.bytes)
    for name in ("nll", "tokens", "bytes"):
        by_hand = [part.sum() for part in np.split(getattr(lines, name), firsts[1:])]
        np.testing.assert_allclose(getattr(found, name), by_hand)


def test_few_documents_and_long_lines_are_cut():
    text = encoded(WORDS, ["the cat sat on " * 2000] * 2)
    for unit in ("document", "line"):
        found = drawn(MODEL, WORDS, text, unit)
        assert 35 <= len(found.nll) <= 45 and found.summed().tokens == len(text.ids)


@pytest.mark.parametrize(("total", "size"), [(0, 16), (100, 16), (40_000, 1000), (10**9, 8192)])
def test_a_stretch_is_a_fortieth_within_limits(total, size):
    assert stretch_bytes(total) == size


def test_lines_that_share_a_subject_widen_the_interval():
    """Fifty lines of one kind, then fifty of another: what an independent choice of lines would hide."""
    text = encoded(WORDS, [line for kind in ["the the the the", "sat on sat on"] * 10 for line in [kind] * 50])
    alone, together = (np.diff(evaluate(MODEL, WORDS, text, unit=unit)["interval"]["bits_per_byte"])
                       for unit in ("document", "line"))
    assert together > 2 * alone


@pytest.mark.parametrize("documents", [1, 40])
def test_evaluate_and_compare_give_the_same_interval(tmp_path, documents):
    """Of one document and of many: the same model on the same text."""
    rng = np.random.default_rng(0)
    (tmp_path / "held").mkdir()
    for number in range(documents):
        lines = [" ".join(rng.choice(["one", "two", "three", "four"], p=rng.dirichlet([1, 1, 1, 1]), size=8))
                 for _ in range(400 // documents)]
        (tmp_path / "held" / f"{number:02}.txt").write_text("\n".join(lines) + "\n")
    report = chainrule.compare(["ngram-bytes"], tmp_path / "held", tmp_path / "out",
                               terms=chainrule.Terms(valid=tmp_path / "held"))
    row = next(row for row in report["rows"] if row["name"] == "ngram-bytes")
    found = chainrule.evaluate(tmp_path / "out" / row["run"], tmp_path / "held")
    assert found["interval"]["bits_per_byte"] == pytest.approx(row["interval"], rel=0.02 if documents == 1 else 1e-9)


def test_a_too_short_text_has_an_infinite_interval():
    found = evaluate(MODEL, WORDS, encoded(WORDS, ["the"]))["interval"]
    assert found["perplexity"] == (1.0, np.inf) and found["bits_per_byte"] == (0.0, np.inf)
