"""The sentence of sublayers: letters, groups, repeats, and what is said about a sentence that is none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import OptionError
from chainrule.models.pattern import LETTERS, MOST, sublayers


@pytest.mark.parametrize(("pattern", "letters"), [
    ("sf", "sf"), ("(sf)*3", "sfsfsf"), ("s*3 (sf)*2 f*3", "ssssfsffff"), ("rr", "rr"),
    ("(rsf)*2", "rsfrsf"), ("(s(cf)*2)*2", "scfcfscfcf"), ("c * 8", "c" * 8), (" ( s f ) *2 ", "sfsf"),
    ("(s)*1", "s"), ("s*0f", "f"), ("sxf", "sxf"), ("((w))f", "wf")])
def test_a_pattern_is_a_sentence_of_letters(pattern, letters):
    assert sublayers(pattern) == letters


@pytest.mark.parametrize(("pattern", "words"), [
    ("", "expected at least one sublayer"), ("  ", "expected at least one sublayer"), ("s*0", "at least one sublayer"),
    ("sq", "'q' is none of them"), ("(sf", "a ')' for each '('"), ("sf)", "a '(' for each ')'"),
    (")sf(", "a '(' for each ')'"), ("*3", "a letter or a group before each '*'"), ("s**2", "'*' is none of them"),
    ("s*", "'*' is none of them"), ("s*-1", "'*' is none of them"), ("S", "'S' is none of them"),
    ("s*10001", f"at most {MOST:,} sublayers"), ("((s*100)*100)*100", f"at most {MOST:,} sublayers")])
def test_what_is_no_pattern_is_refused_with_a_reason(pattern, words):
    with pytest.raises(OptionError, match=re.escape(words)) as caught:
        sublayers(pattern)
    assert str(caught.value).startswith(f"model.pattern = {pattern!r}, expected ")
    assert str(caught.value).endswith("For example (sf)*6.")


sentences = st.recursive(
    st.sampled_from(sorted(LETTERS)).map(lambda letter: (letter, letter)),
    lambda inner: st.tuples(st.lists(inner, min_size=1, max_size=3), st.integers(1, 3)).map(
        lambda given: (f"({' '.join(text for text, _ in given[0])})*{given[1]}",
                       "".join(letters for _, letters in given[0]) * given[1])), max_leaves=6)


@given(sentences)
def test_any_nesting_says_what_it_spells(sentence):
    pattern, letters = sentence
    assert sublayers(pattern) == letters
