"""YAML's traps are closed, and whatever is dumped is read back as it was."""

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chainrule.recipe.strict_yaml import YamlError, dump_yaml, load_with_lines, load_yaml

PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]) | st.sampled_from("\t\n"), max_size=12)
TRICKY = st.sampled_from(["no", "yes", "on", "off", "~", "null", "1e-3", "1.5G", "007", "089", "0x1F", "0o17",
                          "12:30:45", "2020-01-01", "", " ", "true", ".inf", "-", "=", "<<", "a: b", "#x", "1_000",
                          "é", "\u2028"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | PRINTABLE | TRICKY
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4)
                      | st.dictionaries(TRICKY | PRINTABLE, inner, max_size=4), max_leaves=12)


@pytest.mark.parametrize(("text", "value"), [
    ("1e-3", 0.001), ("1E5", 100000.0), (".5", 0.5), ("-2.", -2.0), ("007", 7), ("0x10", 16), ("0o17", 15),
    ("no", "no"), ("on", "on"), ("Yes", "Yes"), ("true", True), ("FALSE", False), ("~", None), ("", None),
    ("-.inf", -math.inf),
    ("2020-01-01", "2020-01-01"), ("12:30:45", "12:30:45"), ("1_000", "1_000"), ("'1'", "1"), ("[0, 0, 1]", [0, 0, 1]),
    ("{a: no}", {"a": "no"}), ("1.5G", "1.5G")])
def test_plain_words_have_the_type_they_look_like(text, value):
    found = load_yaml(text)
    assert found == value and type(found) is type(value)


def test_nan_can_be_read():
    assert math.isnan(load_yaml(".nan"))


@given(VALUES)
def test_dumped_yaml_is_read_back(value):
    assert load_yaml(dump_yaml(value)) == value


@given(VALUES)
def test_other_readers_read_the_same(value):
    assert yaml.safe_load(dump_yaml(value)) == value


def test_lists_of_numbers_stay_on_one_line():
    assert dump_yaml({"prune": [0, 0, 1], "deep": [{"a": 1}]}) == "prune: [0, 0, 1]\ndeep:\n- a: 1\n"


@pytest.mark.parametrize(("text", "words"), [
    ("a: 1\nb:\n  c: 2\n  c: 3", "r.yaml, line 4: .* the key 'c' is already on line 3"),
    ("a: &x 1\nb: *x", "line 1: .* anchors and aliases"),
    ("a: !!python/object/apply:os.system [ls]", "line 1: .* tag .*os.system is not allowed"),
    ("a: !!set {x}", "tag .* is not allowed"),
    ("a: !!int ten", "line 1: .*invalid literal"),
    ("a: 1\nb: [1,\n", "r.yaml, line 3: .* expected the node content"),
    ("a: b: c", "line 1: .* mapping values are not allowed here"),
    ("a: 1\nb: \x01", r"line 2: .* U\+0001 is not allowed"),
    ("? [a]\n: b", "line 1: .* a key must be a word"),
    ("a: 1\n---\nb: 2", "expected a single document"),
    ("[" * 3000, "nested too deeply"),
])
def test_a_mistake_is_named_with_its_line(text, words):
    with pytest.raises(YamlError, match=words):
        load_yaml(text, "r.yaml")


def test_every_path_knows_its_line():
    assert load_with_lines("a: 1\nb:\n  c: [1,\n      2]\n")[1] == {
        (): 1, ("a",): 1, ("b",): 2, ("b", "c"): 3, ("b", "c", 0): 3, ("b", "c", 1): 4}
