"""Looking at a text: every family shows what it has, says in a line what it has not, and the numbers agree."""

import math

import numpy as np
import pytest

import chainrule.inspection.attention as attention
from chainrule.errors import DataError, OptionError
from chainrule.inspection.inside import models_in
from chainrule.inspection.inspect_text import look
from chainrule.runs import load
from chainrule.storage.json_text import json_text
from chainrule.text.corpora import open_corpus
from chainrule.verbs.train import train

TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\nthe mat and the log\n"
READ = "the cat\nthe dog sat on a bird\nand the mat\n"
EVERY = {"attention", "layers", "positions", "neighbors"}
NEURAL = {  # pattern, other choices, and the sections that such a model has
    "transformer": ("(sf)*2", "position: rotary, s: {name: attention, heads: 2}", EVERY),
    "gpt": ("(sf)*2", "position: learned, s: {name: attention, heads: 2}", EVERY),
    "lstm": ("rr", "r: lstm, wiring: plain, norm: none, position: none", {"layers", "neighbors"}),
    "gru": ("rr", "r: gru, wiring: plain, norm: none, position: none", {"layers", "neighbors"}),
    "gated-conv": ("cc", "position: none", {"layers", "neighbors"}),
    "nnlm": ("wf", "position: none", {"layers", "neighbors"}),
    "hybrid": ("(rsf)*2", "r: gru, position: alibi, s: {name: attention, heads: 2}", EVERY),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looking")
    (folder / "text.txt").write_text(TEXT * 4)
    (folder / "read.txt").write_text(READ)
    for order in (2, 4):
        train("ngram", folder / "text.txt", folder / f"o{order}", overrides=[f"model.order={order}"])
    members = f"model.members=[{folder / 'o2'},{folder / 'o4'}]"
    train("mixture", folder / "read.txt", folder / "mix", overrides=[members])
    return folder


def looked(folder, name, **how):
    run = load(folder / name)
    return run, look(run, open_corpus(folder / "read.txt"), **how)


def test_an_ngram_model_shows_orders_and_paths_that_multiply_to_the_probability(folder):
    run, found = looked(folder, "o4")
    model, = found["models"]
    assert set(model) == {"name", "said", "backoff"} and found["units"] == 3 and not found["cut"]
    assert model["said"] == []  # nobody looks for the attention of an n-gram model
    for token, row in zip(found["tokens"], model["backoff"]["tokens"], strict=True):
        product = row["stored"] * math.prod(step["weight"] or 1 for step in row["left"])
        assert product == pytest.approx(math.exp(token["log_prob"]), rel=1e-5)
        assert row["probability"] == pytest.approx(product) and len(row["context"]) == row["order"] - 1
    assert sum(model["backoff"]["orders"]) == len(found["tokens"]) == 14 and len(model["backoff"]["orders"]) == 4
    line = np.append(run.tokenizer.encode("the dog sat on a bird"), run.tokenizer.end)
    assert sum(each["log_prob"] for each in found["tokens"] if each["unit"] == 1) == pytest.approx(
        float(run.model.score(line[None]).sum()), rel=1e-5)
    a = model["backoff"]["tokens"][3 + 4]  # `a` after `dog sat on`
    assert a["left"][0]["context"] == ["dog", "sat", "on"]
    assert model["backoff"]["tokens"][0]["left"] == [] and model["backoff"]["tokens"][0]["context"] == ["<s>"]


def test_totals_are_of_all_tokens_and_unknown_ones_are_counted(folder):
    _, found = looked(folder, "o4", top=3)
    totals = found["totals"]
    assert totals["bits"] == pytest.approx(sum(each["surprisal"] for each in found["tokens"]))
    assert totals["perplexity"] == pytest.approx(2 ** (totals["bits"] / 14))
    assert totals["unknown"] == 1 and "1 of 14 tokens are <unk>" in found["said"][0]
    assert {len(each["top"]) for each in found["tokens"]} == {3}


def test_a_long_text_is_cut_in_a_sentence(folder):
    _, found = looked(folder, "o4", tokens=5)
    assert found["cut"] and len(found["tokens"]) == 5 and found["units"] == 2
    assert found["said"][0] == "only the first 5 tokens of the text were read; --tokens reads more."
    _, whole = looked(folder, "o4", tokens=14)
    assert not whole["cut"]
    with pytest.raises(OptionError, match="tokens = 0, expected at least 1"):
        looked(folder, "o4", tokens=0)


def test_a_mixture_shows_its_members_and_their_insides(folder):
    run, found = looked(folder, "mix")
    assert [each["name"] for each in found["models"]] == ["the model", "member 0", "member 1"]
    members = found["models"][0]["members"]
    mixed = np.log(np.array(members["weights"]) @ np.exp(members["log_probs"]))
    np.testing.assert_allclose(mixed, [each["log_prob"] for each in found["tokens"]], rtol=1e-5)
    for number, order in ((1, 2), (2, 4)):
        rows = found["models"][number]["backoff"]
        assert len(rows["orders"]) == order
        np.testing.assert_allclose([row["probability"] for row in rows["tokens"]],
                                   np.exp(members["log_probs"][number - 1]), rtol=1e-5)


@pytest.mark.parametrize("kind", NEURAL)
def test_a_neural_model_shows_whatever_it_has(kind, folder):
    pattern, choices, sections = NEURAL[kind]
    recipe = folder / f"{kind}.yaml"
    recipe.write_text("family: neural\ntokenizer: characters\n"
                      f"model: {{pattern: {pattern}, width: 16, context: 24, {choices}}}\n"
                      "training: {budget: {steps: 2}, batch: 2, keep: 0}\n")
    train(recipe, folder / "text.txt", folder / kind)
    run, found = looked(folder, kind)
    model, = found["models"]
    assert set(model) - {"name", "said"} == sections
    assert not json_text(found).count("NaN") and len(model["layers"]["names"]) == len(run.model.stack.letters) + 1
    for measure in ("cosine", "cka", "unbiased_cka"):
        np.testing.assert_allclose(np.diagonal(model["layers"][measure]), 1, atol=1e-3)
    assert len(model["neighbors"]) == len({each["id"] for each in found["tokens"]})
    if "attention" in sections:
        maps = np.array([head for layer in model["attention"]["layers"] for head in layer["heads"]])
        assert maps.shape == (4, 24, 24) and len(model["attention"]["read"]) == 24  # one window of the 37 tokens
        np.testing.assert_allclose(maps.sum(-1), 1, atol=1e-2)
        assert not np.triu(maps, 1).any() and model["attention"]["read"][0] == "<s>"
        assert "attention and layers: of the first 24 tokens of the text, one window of the model." in model["said"]
        np.testing.assert_allclose(np.array(model["attention"]["rollout"]).sum(-1), 1, atol=1e-2)
    if "positions" not in sections:
        assert "positions" in model["said"][0]


def test_the_longest_line_is_looked_into(folder):
    recipe = folder / "words.yaml"
    recipe.write_text("family: neural\ntokenizer: words\nmodel: {pattern: sf, width: 16, context: 24}\n"
                      "training: {budget: {steps: 2}, batch: 2, keep: 0}\n")
    train(recipe, folder / "text.txt", folder / "words")
    _, found = looked(folder, "words")
    read = found["models"][0]["attention"]["read"]
    assert found["longest"] == 1 and read == ["<s>", "the", "dog", "sat", "on", "a", "<unk>"]
    assert any("of unit 2, the longest" in line for line in found["said"])


def test_maps_that_a_page_cannot_hold_are_shortened_in_a_sentence(folder, monkeypatch):
    monkeypatch.setattr(attention, "MOST", 100)
    recipe = folder / "many.yaml"
    recipe.write_text("family: neural\ntokenizer: characters\nmodel: {pattern: sf, width: 16, context: 24}\n"
                      "training: {budget: {steps: 2}, batch: 2, keep: 0}\n")
    train(recipe, folder / "text.txt", folder / "many")
    _, found = looked(folder, "many")
    assert len(found["models"][0]["attention"]["read"]) == 5
    assert "attention: of the first 5 tokens of the text, as many as a page can hold." in found["said"]
    assert "layers: of the first 24 tokens of the text, one window of the model." in found["said"]


def test_members_stand_in_their_order_and_behind_the_mixture_that_they_are_of():
    names = ["members.10/path", "members.2/path", "members", "members.2/members.0/path", "members.2/members"]
    assert models_in(dict.fromkeys(names, [0])) == ["", "members.2/", "members.2/members.0/", "members.10/"]


def test_a_text_without_words_is_reported(folder):
    (folder / "blank.txt").write_text(" \n\n")
    with pytest.raises(DataError, match="there is no text in it, only white space"):
        look(load(folder / "o2"), open_corpus(folder / "blank.txt"))
