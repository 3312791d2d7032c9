"""Metrics against loops straight from their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import Bytes, History, Words, encoded, random_bigram

from chainrule.errors import UsageError
from chainrule.evaluation.by_order import by_order
from chainrule.evaluation.evaluate import evaluate
from chainrule.evaluation.totals import block_bytes, block_totals, unit_totals
from chainrule.recipe.registry import build
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import fit_and_encode
from chainrule.text.options import TextOptions

WORDS = Words(["the", "cat", "sat", "on"])
LINES = st.lists(st.text("theca ton", max_size=20), min_size=1, max_size=40)


def by_the_definition(model, tokenizer, lines):
    """One token at a time, through the stepwise protocol."""
    nll, known_nll, tokens, unknown = 0.0, 0.0, 0, 0
    for line in lines:
        state = model.start(1)
        for id in [*tokenizer.encode(line), tokenizer.end]:
            loss = -float(model.log_probs(state)[0, id])
            nll, tokens = nll + loss, tokens + 1
            if id == tokenizer.unknown:
                unknown += 1
            else:
                known_nll += loss
            state = model.advance(state, np.array([id]))
    return nll, known_nll, tokens, unknown


@settings(deadline=None, max_examples=40)
@given(LINES)
def test_metrics_agree_with_their_definitions(lines):
    model = random_bigram(WORDS.vocabulary_size)
    found = evaluate(model, WORDS, encoded(WORDS, lines, lost=None), bootstrap=20)
    nll, known_nll, tokens, unknown = by_the_definition(model, WORDS, lines)
    size = sum(len(line.encode()) + 1 for line in lines)
    expected = {"tokens": tokens, "units": len(lines), "unknown": unknown, "bytes": size, "nll": nll, "impossible": 0,
                "perplexity": math.exp(nll / tokens), "entropy": nll / tokens / math.log(2),
                "perplexity_excluding_unknown": math.exp(known_nll / (tokens - unknown)),
                "bits_per_byte": nll / math.log(2) / size}
    assert {key: found[key] for key in expected} == pytest.approx(expected)
    assert found["bits_per_byte_comparable"] is False
    assert found["bits_per_character"] is None


def test_a_uniform_model_has_the_perplexity_of_its_vocabulary():
    model = random_bigram(258, sharpness=0.0, start=0)
    found = evaluate(model, Bytes(), encoded(Bytes(), ["héllo"] * 50), characters=6 * 50)
    assert found["perplexity"] == pytest.approx(257)
    assert found["interval"]["perplexity"] == pytest.approx((257, 257))
    assert found["bits_per_byte"] == pytest.approx(math.log2(257))
    assert found["bits_per_character"] == pytest.approx(math.log2(257) * 7 / 6)


@pytest.mark.parametrize(("lost", "words", "comparable"), [(0, ["the"], True), (0, ["dog"], False), (3, ["the"], False),
                                                          (None, ["the"], False)])
def test_bits_per_byte_compare_only_where_no_text_was_lost(lost, words, comparable):
    found = evaluate(random_bigram(7), WORDS, encoded(WORDS, words * 5, lost=lost))
    assert found["bits_per_byte_comparable"] is comparable


def test_an_impossible_token_makes_perplexity_infinite_and_is_counted():
    model = History(7, impossible=(4,))
    found = evaluate(model, WORDS, encoded(WORDS, ["the cat cat", "sat"] * 40), bootstrap=50)
    assert found["perplexity"] == found["nll"] == found["bits_per_byte"] == math.inf
    assert found["impossible"] == 80
    assert found["interval"]["perplexity"] == (math.inf, math.inf)


def test_an_impossible_unknown_leaves_the_perplexity_without_unknowns_finite():
    lines = ["the dog", "sat"] * 40
    found = evaluate(History(7, impossible=(0,)), WORDS, encoded(WORDS, lines), bootstrap=0)
    assert found["perplexity"] == math.inf
    assert math.isfinite(found["perplexity_excluding_unknown"])
    assert found["interval"] is None


@settings(deadline=None, max_examples=20)
@given(LINES, st.integers(1, 50))
def test_units_and_blocks_add_up_to_the_same(lines, size):
    model, text = random_bigram(7), encoded(WORDS, lines)
    units, blocks = unit_totals(model, WORDS, text), block_totals(model, WORDS, text, size)
    assert len(units.nll) == len(lines)
    assert len(blocks.nll) == -(-len(text.ids) // size)
    assert (blocks.tokens[:-1] == size).all()
    for name in ("nll", "known_nll", "tokens", "unknown", "impossible", "bytes"):
        assert getattr(units.summed(), name) == pytest.approx(getattr(blocks.summed(), name))


@pytest.mark.parametrize("unit", ["line", "document"])
def test_a_block_has_the_bytes_of_its_own_tokens(tmp_path, unit):
    text = "aé😀" * 40 + "\n" + "plain " * 30 + "\n"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    options = TextOptions(unit=unit)
    trainer = build("text/tokenizers", {"name": "byte_pair", "size": 270})
    tokenizer, units = fit_and_encode(open_corpus(tmp_path / "a.txt", options), trainer, options)
    found = block_bytes(tokenizer, units, 10)
    assert found.sum() == pytest.approx(len(text.encode()))
    blocks = [units.ids[start : start + 10] for start in range(0, len(units.ids), 10)]
    inner = [i for i, ids in enumerate(blocks) if tokenizer.end not in ids]  # an end mark may stand for a newline
    lengths = tokenizer.byte_lengths()
    assert [found[i] for i in inner] == [sum(int(lengths[id]) for id in blocks[i]) for i in inner]
    assert len(set(found)) > 1


def test_few_long_units_still_have_an_interval():
    text = encoded(WORDS, ["the cat sat on " * 1000] * 2)
    found = evaluate(random_bigram(7), WORDS, text)
    low, high = found["interval"]["perplexity"]
    assert low < found["perplexity"] < high


def test_intervals_depend_on_the_seed_alone():
    text = encoded(WORDS, ["the cat", "sat on the cat", "on"] * 30)
    first, again, other = (evaluate(random_bigram(7), WORDS, text, seed=seed)["interval"] for seed in (0, 0, 1))
    assert first == again != other


def test_uncertainty_by_order_goes_from_no_context_to_all_of_it():
    model, text = random_bigram(7, seed=3), encoded(WORDS, ["the cat sat on", "the", "sat on"] * 20)
    rows = by_order(model, WORDS, text)
    assert [row["context"] for row in rows] == [0, 1]
    p_V = np.exp(model.log_p_V)
    assert rows[0]["entropy"] == pytest.approx(-np.mean([math.log2(p_V[id]) for id in text.ids]))
    assert rows[1]["perplexity"] == pytest.approx(evaluate(model, WORDS, text)["perplexity"])


def test_a_model_that_cannot_be_shortened_says_so():
    with pytest.raises(UsageError, match="--by-order needs a model whose context can be shortened: an n-gram, or a"):
        by_order(History(7), WORDS, encoded(WORDS, ["the"]))


def test_a_tokenizer_of_another_model_is_refused():
    with pytest.raises(UsageError, match=r"vocabulary_size = 9, expected the tokenizer's 7. The model was"):
        evaluate(History(9), WORDS, encoded(WORDS, ["the"]))
