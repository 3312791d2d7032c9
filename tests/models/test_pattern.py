"""The sentence of sublayers: letters, groups, repeats, shared weights, and what is said about one that is none."""

import re
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import OptionError
from chainrule.models.pattern import DEEPEST, MOST, Slot, slots, sublayers, with_depth
from chainrule.models.shape import USUAL, Shape


@pytest.mark.parametrize(("pattern", "letters"), [
    ("sf", "sf"), ("(sf)*3", "sfsfsf"), ("s*3 (sf)*2 f*3", "ssssfsffff"), ("rr", "rr"),
    ("(rsf)*2", "rsfrsf"), ("(s(cf)*2)*2", "scfcfscfcf"), ("c * 8", "c" * 8), (" ( s f ) *2 ", "sfsf"),
    ("(s)*1", "s"), ("s*0f", "f"), ("sxf", "sxf"), ("((w))f", "wf"), ("[sf]*3", "sfsfsf"), ("[s]*0f", "f"),
    ("[s[cf]*2]*2", "scfcfscfcf"), ("(s[f]*2)*2 [r]", "sffsffr"), ("qQ", "qQ")])
def test_a_pattern_is_a_sentence_of_letters(pattern, letters):
    assert sublayers(pattern) == letters


@pytest.mark.parametrize(("pattern", "weights"), [
    ("sfsf", [0, 1, 2, 3]), ("(sf)*2", [0, 1, 2, 3]), ("[sf]*3", [0, 1, 0, 1, 0, 1]), ("s[f]*3 r", [0, 1, 1, 1, 2]),
    ("([s]*2)*2", [0, 0, 1, 1]), ("[(s)*2]*2", [0, 1, 0, 1]), ("[[s]*2 f]*2", [0, 0, 1, 0, 0, 1]),
    ("[s*2]*2", [0, 1, 0, 1]), ("[s]", [0]), ("[s] [s]", [0, 1])])
def test_round_brackets_make_new_weights_each_time_and_square_ones_make_them_once(pattern, weights):
    assert [slot.weights for slot in slots(pattern)] == weights


def test_sublayers_that_share_weights_have_one_letter():
    assert slots("[sf]*2") == [Slot("s", 0, 0), Slot("f", 1, 1)] * 2


@pytest.mark.parametrize(("pattern", "slots_"), [
    ("{sf}*2", [("s", 0, 0), ("f", 1, 1), ("s", 0, 2), ("f", 1, 3)]), ("{s}*1 f", [("s", 0, 0), ("f", 1, 1)]),
    ("{[s]*2}*2", [("s", 0, 0), ("s", 0, 0), ("s", 0, 1), ("s", 0, 1)]),
    ("[{s}*2]*2", [("s", 0, 0), ("s", 0, 1), ("s", 0, 0), ("s", 0, 1)]),
    ("({s}*2)*2", [("s", 0, 0), ("s", 0, 1), ("s", 2, 2), ("s", 2, 3)])])
def test_braces_make_weights_once_and_wirings_each_time(pattern, slots_):
    assert slots(pattern) == [Slot(*each) for each in slots_]


@pytest.mark.parametrize(("pattern", "words"), [
    ("s*0", "at least one sublayer"),
    ("()", "at least one sublayer"), ("[]*3", "at least one sublayer"),
    ("s1", "expected letters, groups and repeats; '1' is none of them"), ("sé", "'é' is none of them"),
    ("s-f", "'-' is none of them"), ("(sf", "a ')' for each '('"), ("[sf", "a ']' for each '['"),
    ("sf)", "a '(' for each ')'"), ("sf]", "a '[' for each ']'"), ("(sf]", "a '[' for each ']'"),
    ("[sf)", "a '(' for each ')'"), ("{sf]", "a '[' for each ']'"), ("sf}", "a '{' for each '}'"),
    ("([s)f]", "a '(' for each ')'"),
    (")sf(", "a '(' for each ')'"), ("*3", "a letter or a group before each '*'"),
    ("(*3)", "a letter or a group before each '*'"), ("s*2*2", "a letter or a group before each '*'"),
    ("s**2", "'*' is none of them"), ("s*", "'*' is none of them"), ("s*-1", "'*' is none of them"),
    ("s*10001", f"at most {MOST:,} sublayers"), ("((s*100)*100)*100", f"at most {MOST:,} sublayers"),
    ("[[s*100]*100]*100", f"at most {MOST:,} sublayers"), ("s*99999999999999999999", f"at most {MOST:,} sublayers"),
    ("(" * (DEEPEST + 1) + "s" + ")" * (DEEPEST + 1), f"at most {DEEPEST} groups inside each other")])
def test_an_invalid_pattern_is_refused_with_a_reason(pattern, words):
    with pytest.raises(OptionError, match=re.escape(words)) as caught:
        sublayers(pattern)
    shown = pattern if len(pattern) <= 60 else f"{pattern[:57]}..."
    assert str(caught.value).startswith(f"model.pattern = {shown!r}, expected ")
    assert str(caught.value).endswith("For example (sf)*6.")


@pytest.mark.parametrize(("pattern", "deeper"), [
    ("(sf)*6", "(sf)*4"), ("[sf]*2", "[sf]*4"), ("{sf}*6 s", "{sf}*4s"), ("s*3 (sf)*3 f*3", "s*3(sf)*4f*3"),
    ("rr", "r*4"), ("sf", "(sf)*4"), ("sfsf", "(sf)*4"), ("sffs", "(sffs)*4"), ("([sf]*2 r)*2", "([sf]*2r)*4"),
    ("(sf)*1", "(sf)*4"), ("s", "s*4"), ("(sf)*4", "(sf)*4")])
def test_depth_repeats_the_largest_group(pattern, deeper):
    assert with_depth(pattern, 4) == deeper


@pytest.mark.parametrize("pattern", ["s*8f*8", "(sf)*2 p (sf)*2", ""])
def test_depth_needs_one_largest_group(pattern):
    with pytest.raises(OptionError, match="expected one group that is larger than the others, so that model.depth"):
        with_depth(pattern, 4)


@given(st.text("sf()[]{}*23 ", max_size=12))
def test_a_depth_that_a_pattern_has_changes_no_sublayer(pattern):
    try:
        letters = sublayers(pattern)
        deeper = with_depth(pattern, 2)
    except OptionError:
        return
    assert set(sublayers(deeper)) <= set(letters) and with_depth(deeper, 2) == deeper


def test_patterns_up_to_the_limits_are_accepted():
    assert len(slots(f"s*{MOST}")) == len(slots(f"(sf)*{MOST // 2}")) == len({*slots(f"(sf)*{MOST // 2}")}) == MOST
    assert len(slots(f"[sf]*{MOST // 2}")) == MOST and len({*slots(f"[sf]*{MOST // 2}")}) == 2
    assert sublayers("(" * DEEPEST + "s" + ")" * DEEPEST) == "s"
    assert sublayers("(s)" * (DEEPEST + 1)) == "s" * (DEEPEST + 1), "side by side there is no such limit"


sentences = st.recursive(
    st.sampled_from(sorted(ascii_letters)).map(lambda letter: (letter, letter)),
    lambda inner: st.builds(
        lambda items, times, around: (f"{around[0]}{' '.join(text for text, _ in items)}{around[1]}*{times}",
                                      "".join(letters for _, letters in items) * times),
        st.lists(inner, min_size=1, max_size=3), st.integers(1, 3), st.sampled_from(["()", "[]"])), max_leaves=6)


@given(sentences)
def test_any_nesting_says_what_it_spells(sentence):
    pattern, letters = sentence
    assert sublayers(pattern) == letters


@given(sentences)
def test_weights_are_shared_in_square_brackets_alone(sentence):
    """With round brackets in their place all weights are new; those of the first round of a sentence always are."""
    pattern, letters = sentence
    numbers = [slot.weights for slot in slots(pattern.replace("[", "(").replace("]", ")"))]
    assert numbers == list(range(len(letters)))
    shared = slots(pattern)
    assert len({slot.weights for slot in shared}) == len({*shared}) <= len(letters), "one number has one letter"
    firsts = list(dict.fromkeys(slot.weights for slot in shared))
    assert firsts == list(range(len(firsts))), "numbers count up as weights are first met"


@pytest.mark.parametrize("pattern", ["sq", "[q]*2", "Sf"])
def test_a_letter_without_a_part_is_refused_by_the_shape(pattern):
    [letter] = {*sublayers(pattern)} - {*USUAL}
    said = (f"model.pattern = {pattern!r}, expected a part for each letter; {letter!r} has none. Say which: "
            f"model.parts.{letter}=attention. Without that, s, r, c, w, x, f have parts.")
    with pytest.raises(OptionError, match=re.escape(said)):
        Shape(pattern=pattern).part(letter)
    assert Shape(pattern=pattern, parts={letter: "gru"}).part(letter)["name"] == "gru"


def test_a_letter_stands_for_any_part_and_a_shape_knows_their_names():
    parts = {"s": "sliding_window", "f": {"name": "lstm", "forget": 2.0}, "A": "mlp"}
    shape = Shape(pattern="[sf]*2 A r", parts=parts)
    assert shape.layer_names == ("0 attention", "1 lstm", "2 attention", "3 lstm", "4 mlp", "5 lstm")
    assert [shape.kind(letter) for letter in "sfA"] == ["parts/mixers", "parts/mixers", "parts/feedforwards"]
    assert shape.part("f")["forget"] == 2.0 and shape.part("r")["forget"] == 1.0


@pytest.mark.parametrize("pattern", ["", "  "])
def test_an_empty_pattern_has_no_sublayers(pattern):
    assert sublayers(pattern) == "" and Shape(pattern=pattern).layer_names == ()
