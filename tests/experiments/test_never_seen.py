"""Held-out text is never learned from: models and tokenizers come out the same, whatever stands in it."""

import shutil

import numpy as np
import pytest

from chainrule.experiments.compare import compare
from chainrule.experiments.holdout import source, texts
from chainrule.experiments.terms import Terms
from chainrule.experiments.trial import validation
from chainrule.jobs import learns_from_validation
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import find, names
from chainrule.runs import load
from chainrule.text.corpora import open_corpus
from chainrule.text.options import TextOptions
from chainrule.verbs.train import finish, prepared

MARKER = "Zyxqvw jkxzq wqzyx vvkzq!\n"


@pytest.fixture(scope="module")
def marked(corpus, tmp_path_factory):
    """The corpus again, with a sentence in every held-out document that is nowhere else, often."""
    folder = tmp_path_factory.mktemp("marked") / "corpus"
    shutil.copytree(corpus, folder)
    held_out = texts(source(corpus, None, TextOptions(), 0.0, 0)[0].halves()[1])
    changed = 0
    for path in folder.iterdir():
        if path.read_bytes() in held_out:
            path.write_text(path.read_text(encoding="utf-8") + MARKER * 50, encoding="utf-8")
            changed += 1
    assert 8 <= changed <= 16
    return folder


def test_nothing_of_a_sentence_in_the_held_out_text_is_in_the_models(corpus, marked, neural, tmp_path):
    words, terms = ["ngram", str(neural)], Terms(tokenizer="{name: byte_pair, size: 400}")
    plain, planted = (compare(words, data, tmp_path / name, budget="1ktok", terms=terms)
                      for data, name in ((corpus, "plain"), (marked, "planted")))
    for run in ("ngram", "small"):
        for file in ("model.safetensors", "tokenizer.json"):
            one, other = (tmp_path / name / "runs" / run / file for name in ("plain", "planted"))
            assert one.read_bytes() == other.read_bytes(), (run, file)
    loaded = load(tmp_path / "planted" / "runs" / "ngram")
    pieces = [loaded.tokenizer.decode(np.array([id])) for id in range(loaded.tokenizer.vocabulary_size)]
    assert not [piece for piece in pieces if len(piece.strip()) > 1 and piece.strip() in MARKER]
    assert planted["data"]["train_bytes"] == plain["data"]["train_bytes"]
    assert planted["data"]["held_out_bytes"] > plain["data"]["held_out_bytes"] + 8 * 50 * len(MARKER)
    assert all(two["bits_per_byte"] > one["bits_per_byte"] + 0.5 for one, two in zip(
        sorted(plain["rows"], key=lambda row: row["name"]), sorted(planted["rows"], key=lambda row: row["name"]),
        strict=True) if one["kind"] == "model")


def trained_bytes(recipe, text, held_out, out):
    """As a trial trains it."""
    corpus, valid = validation(recipe, text, held_out)
    job = prepared(recipe, corpus, out, valid=valid)
    finish(job, find("families", recipe.family).train(job), out, force=False, measure=False)
    return (out / "model.safetensors").read_bytes()


def two_held_out_texts(tmp_path):
    for name, text in (("a", "the cat sees 7\n" * 30), ("b", "quite other words stand here\n" * 40)):
        (tmp_path / f"{name}.txt").write_text(text)
    return open_corpus(tmp_path / "a.txt"), open_corpus(tmp_path / "b.txt")


@pytest.mark.parametrize("smoothing", names("counting/smoothing"))
def test_no_smoothing_learns_from_the_held_out_text(smoothing, corpus, tmp_path):
    recipe = load_recipe("ngram-bytes", ["model.order=2", f"model.smoothing={smoothing}"])
    assert learns_from_validation(recipe) == (smoothing == "jelinek_mercer")
    one, other = (trained_bytes(recipe, open_corpus(corpus), held_out, tmp_path / f"run{i}")
                  for i, held_out in enumerate(two_held_out_texts(tmp_path)))
    assert one == other


@pytest.mark.parametrize("change", [*(f"training.schedule={name}" for name in names("training/schedules")),
                                    "training.patience=1"])
def test_no_schedule_and_no_patience_learns_from_the_held_out_text(change, corpus, neural, tmp_path):
    recipe = load_recipe(neural, [change, "training.budget.steps=24", "training.evaluate_every=4"])
    one, other = (trained_bytes(recipe, open_corpus(corpus), held_out, tmp_path / f"run{i}")
                  for i, held_out in enumerate(two_held_out_texts(tmp_path)))
    assert one == other


def test_a_recipe_that_learns_from_validation_gets_a_part_of_its_training_text(corpus, tmp_path):
    """And the test above is no accident: with the held-out text in its place the model is another."""
    from chainrule.jobs import Job

    recipe = load_recipe("ngram-bytes", ["model.order=2", "model.smoothing=jelinek_mercer"])
    family = find("families", "ngram")
    learned = [family.train(Job(recipe, open_corpus(corpus), held_out, tmp_path)).report["smoothing"]
               for held_out in two_held_out_texts(tmp_path)]
    assert learned[0] != learned[1]
