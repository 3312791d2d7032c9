"""Texts are split into words by one rule that people can say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.inputs.word_splitting import split_words


@pytest.mark.parametrize("text, words", [
    ("The cows eat hay.", "The cows eat hay ."), ('Really? (Yes, in the U.S.)', "Really ? ( Yes , in the U.S. )"),
    ("don't well-known 3.5 a@b.org", "don't well-known 3.5 a@b.org"), ("#tag @me, :-) ...", "#tag @me , :-) ..."),
    ('"Wait..." he said!!', '" Wait ... " he said !!'), ("$5 50% e.g. end.", "$ 5 50 % e.g. end ."), ("", ""),
    ("  «Ça va?»\t", "« Ça va ? »")])
def test_marks_before_and_behind_a_word_are_words(text, words):
    assert split_words(text) == words.split()


def test_with_spaces_only_white_space_splits():
    assert split_words("Do n't stop.", spaces=True) == ["Do", "n't", "stop."]


@given(st.text())
def test_no_character_is_lost(text):
    assert "".join(split_words(text)) == "".join(text.split()) and all(split_words(text))
