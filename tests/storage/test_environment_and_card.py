"""What a run folder says of its making: versions and hardware without names or paths, and a card for people."""

import getpass
import json
import socket

import pytest

from chainrule import __version__
from chainrule.recipe.registry import build, find
from chainrule.recipe.strict_yaml import load_yaml
from chainrule.storage.card import model_card
from chainrule.storage.environment import environment, installed

RECIPE = {"family": "ngram", "description": "Words, five at a time", "tokenizer": {"name": "words"}}


def test_the_environment_names_versions_and_hardware():
    found = environment()
    assert found["chainrule"] == __version__ and found["packages"]["numpy"] == installed("numpy")
    assert found["cores"] >= found["threads"] >= 1 and found["memory"] > 2**20 and found["processor"]
    assert json.loads(json.dumps(found)) == found


def test_the_environment_names_no_host_no_user_and_no_path():
    text = json.dumps(environment())
    assert "/" not in text and socket.gethostname() not in text
    assert getpass.getuser() not in text.split('"')


def test_a_package_that_is_not_there_has_no_version():
    assert installed("no-such-package-anywhere") is None


def test_the_card_has_metadata_numbers_and_the_recipe():
    report = {"valid": {"perplexity": 141.1912, "tokens": 82430, "interval": [139.5, 143.25]}, "notes": "a|b\nc",
              "x": None}
    card = model_card(RECIPE, report, "family: ngram\n", build("tasks", "language"))
    head = load_yaml(card.split("---\n")[1])
    assert head == {"library_name": "chainrule", "tags": ["language-model", "ngram"]}
    assert "# Words, five at a time\n" in card and "```yaml\nfamily: ngram\n```" in card
    for row in ("| valid, perplexity | 141.2 |", "| valid, tokens | 82,430 |", "| valid, interval | 139.5, 143.2 |",
                "| notes | a\\|b c |"):
        assert row in card
    assert "| x |" not in card


def test_tables_and_examples_stay_out_of_the_card():
    valid = {"accuracy": 0.5, "confusions": [], "most_wrong": [{"text": "a private letter", "line": 1}],
             "per_label": {"good": {"f1": 0.25}, "bad": {"f1": 0.75}}, "interval": {"accuracy": [0.4, 0.6]}}
    card = model_card(RECIPE, {"valid": valid, "advice": []}, "", build("tasks", "language"))
    for row in ("| valid, accuracy | 0.5 |", "| valid, interval, accuracy | 0.4, 0.6 |",
                "| valid, most wrong | see `report.json` |", "| valid, per label | see `report.json` |"):
        assert row in card
    for absent in ("a private letter", "advice", "0.75", "confusions"):
        assert absent not in card


@pytest.mark.parametrize(("family", "tags", "says", "caution"), [
    ("ngram", ["language-model", "ngram"], "Language model, family `ngram`, over `words` tokens", "It repeats and"),
    ("neural", ["language-model", "neural"], "Language model, family `neural`, over", "It repeats and completes"),
    ("vectors", ["word-vectors", "vectors"], "Word vectors, family `vectors`, over", "Words are near each other as"),
    ("text_classifier", ["classifier", "text-classifier"], "Classifier, family `text_classifier`, over",
     "It gives labels as"),
])
def test_the_card_says_what_the_model_is(family, tags, says, caution):
    card = model_card({**RECIPE, "family": family}, {}, "", build("tasks", find("families", family).tasks[0]))
    assert load_yaml(card.split("---\n")[1])["tags"] == tags
    assert f"\n{says}" in card and f"\n{caution}" in card
    assert (card.count("anguage") > 0) == (tags[0] == "language-model")


def test_a_card_without_numbers_says_so():
    assert "Nothing was measured." in model_card(RECIPE, {}, "", build("tasks", "language"))


def test_versions_are_those_that_the_packages_say():
    from importlib import metadata

    from chainrule.storage.environment import PACKAGES, installed

    for name in PACKAGES:
        try:
            assert installed(name) == metadata.version(name)
        except metadata.PackageNotFoundError:
            assert installed(name) is None
    assert installed("no-such-package") is None
