"""Words as numbers: a row of the table, a vector, characters; rare ones are hidden in training."""

from types import SimpleNamespace

import numpy as np
import pytest

from chainrule.errors import OptionError
from chainrule.inputs.modalities.words import BEGIN, END, OTHER, OWN, PADDING, UNKNOWN, Words

JOB = SimpleNamespace(start=None)
SENTENCES = [("The", "cow", "the"), ("A", "cow")]


@pytest.fixture(scope="module")
def facts():
    return Words().learn(SENTENCES, JOB)[1]


def test_the_table_has_words_in_lower_case_the_most_frequent_first(facts):
    assert facts["words"] == ["cow", "the", "a"] and facts["counts"] == [2, 2, 1]
    assert facts["characters"] == sorted(set("Thecowthe" + "A"))
    assert Words(min_count=2).learn(SENTENCES, JOB)[1]["words"] == ["cow", "the"]


def test_a_word_is_its_row_and_its_characters_in_their_case(facts):
    [own] = Words(longest=4).encode([("The", "cat")], None, facts, 9)
    letters = {each: n for n, each in enumerate(facts["characters"], start=END + 1)}
    assert own.shape == (2, OWN + 6)
    assert own[0].tolist() == [2, UNKNOWN, BEGIN, letters["T"], letters["h"], letters["e"], END, PADDING]
    assert own[1].tolist() == [UNKNOWN, UNKNOWN, BEGIN, letters["c"], OTHER, letters["t"], END, PADDING]


def test_of_a_long_word_the_first_and_the_last_characters_are_read(facts):
    [[own]] = Words(longest=4).encode([("cowwwwohe",)], None, facts, 9)
    assert own.tolist() == Words(longest=4).encode([("cohe",)], None, facts, 9)[0][0].tolist()


def test_a_text_is_split_at_spaces_and_a_sequence_is_taken_as_it_is(facts):
    words = Words()
    [one, other] = words.encode([b"the cow", ("the", "cow")], None, facts, 9)
    assert (one == other).all() and len(words.encode([("a b",)], None, facts, 9)[0]) == 1
    assert len(words.encode([b""], None, facts, 9)[0]) == 1, "an empty text is one unknown word"


def test_rare_words_are_hidden_in_training_as_often_as_said(facts):
    words, draw = Words(rare=1.0), np.random.default_rng(0)
    arrays = words.encode([("cow", "a")] * 4000, None, facts, 9)
    hidden = words.batch(arrays, facts, draw)[0][:, :, 0] == UNKNOWN
    assert hidden.mean(axis=0) == pytest.approx([1 / 3, 1 / 2], abs=0.03)  # r / (r + n) for n = 2, 1
    assert not (words.batch(arrays, facts, None)[0][:, :, 0] == UNKNOWN).any(), "outside training none is hidden"
    assert not (Words(rare=0).batch(arrays, facts, draw)[0][:, :, 0] == UNKNOWN).any()


def test_a_batch_is_as_wide_as_its_longest_word(facts):
    words = Words()
    inputs, lengths = words.batch(words.encode([("the", "cow"), ("a",)], None, facts, 9), facts, None)
    assert inputs.shape == (2, 2, OWN + 5) and lengths.tolist() == [2, 1] and not inputs[1, 1].any()


def test_words_have_vectors_as_they_are_written_or_in_lower_case(tmp_path):
    (tmp_path / "v.txt").write_text("cow 1 0\nThe 0 1\nzebu 1 1\n")
    words = Words(vectors=str(tmp_path / "v.txt"))
    found = words.learn(SENTENCES, JOB)[1]
    assert found["vectors"] == {"source": str(tmp_path / "v.txt"), "width": 2, "words": ["cow", "The", "zebu"]}
    assert words.encode([("Cow", "The", "the", "zebu")], None, found, 9)[0][:, 1].tolist() == [1, 2, 0, 3]
    assert words.sizes(0, found) == (4, (22, len(found["characters"]) + 4, 4, 2))
    assert Words(vectors=str(tmp_path / "v.txt"), most=1).learn(SENTENCES, JOB)[1]["vectors"]["words"] == ["cow"]


@pytest.mark.parametrize("option, value", [("min_count", 0), ("longest", 0), ("most", 0), ("rare", -0.5)])
def test_options_that_cannot_be(option, value):
    with pytest.raises(OptionError, match=f"task.inputs.{option} = {value}, expected at least"):
        Words(**{option: value})
