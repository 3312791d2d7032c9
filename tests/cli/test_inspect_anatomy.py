"""`chainrule inspect` takes a model apart: rank, importance, probes."""

import json
from xml.etree import ElementTree

import pytest
from command_line import in_this_process, refused

SMALL = """
family: neural
tokenizer: characters
model: {pattern: (sf)*2, width: 16, context: 16, s: {heads: 2}, position: learned}
training: {budget: {steps: 3}, batch: 2}
"""
TEXT = "the cat sat on the mat, and the dog lay by the door all day long.\n" * 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("anatomy")
    (folder / "small.yaml").write_text(SMALL)
    (folder / "text.txt").write_text(TEXT)
    (folder / "tags.txt").write_text("the\tD\ncat\tN\n\n" * 20)
    return folder


@pytest.fixture
def inspect(folder, capfd, monkeypatch):
    monkeypatch.chdir(folder)
    run = in_this_process(capfd)
    return lambda *words: run("inspect", *words)


def test_rank_of_two_recipes_is_one_picture_and_numbers(folder, inspect):
    words = ["small.yaml", "small.yaml", "model.wiring=post_norm", "--rank", "--data", "text.txt", "--tokens", "12"]
    found = json.loads(inspect(*words, "--out", "rank.svg", "--json").out)
    assert [each["name"] for each in found["models"]] == ["small.yaml", "small.yaml wiring=post_norm"]
    assert len(found["models"][0]["residuals"]["whole model"]) == 5
    assert "with skips" in "".join(ElementTree.parse(folder / "rank.svg").getroot().itertext())


def test_importance_and_probes_of_a_recipe_are_pictures(folder, inspect):
    shown = inspect("small.yaml", "--importance", "--data", "text.txt", "--tokens", "200", "--out", "worth.svg").out
    assert "bits per byte on 200 tokens" in shown and "2 attention, head 1" in shown
    assert "What each head is worth" in (folder / "worth.svg").read_text()
    shown = inspect("small.yaml", "--probe", "tags.txt", "--out", "known.svg").out
    assert "2 tags, probes trained on 32 words" in shown
    assert "most frequent tag of each word" in (folder / "known.svg").read_text()


@pytest.mark.parametrize(("words", "said"), [
    (["ngram", "--rank"], "its family is ngram and its task language, expected a neural model that reads tokens"),
    (["t5-small", "--rank"], "expected a neural model that reads tokens and has no source"),
    (["nothing", "--rank"], "no run folder or recipe is named 'nothing'"),
    (["small.yaml", "--rank", "--out", "x.pdf"], "ends in .svg or .png"),
    (["small.yaml", "more", "--importance"], "'more' after the run, expected nothing"),
    (["small.yaml", "--probe", "tags.txt", "--importance"], "--importance = True does nothing with --probe"),
    (["small.yaml", "--rank", "--top", "3"], "--top = 3 does nothing with --rank"),
])
def test_what_cannot_be_shown_is_said_in_one_line(inspect, words, said):
    refused(inspect(*words), 2, said)
