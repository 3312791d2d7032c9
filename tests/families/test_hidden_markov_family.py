"""hmm-tagger: trained, saved, opened and used without torch; what is damaged or does not fit is told in one line."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import chainrule
from chainrule.counting.hidden_markov.counts import counted
from chainrule.counting.hidden_markov.model import HiddenMarkovTagger, How
from chainrule.errors import StorageError, UsageError
from chainrule.storage.manifest import NAME, hashed, manifest_bytes
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.tagger_protocols import ChainsTags, ExplainsTags, KnowsWords, Tagger, WeighsTags

ROOT = Path(__file__).parents[2]
NOUNS, VERBS, PLACES = ["cows", "hens", "dogs", "frogs"], ["eat", "see", "like", "find"], ["Rome", "Paris", "Bonn"]


def treebank(sentences):
    """CoNLL-U with words and UPOS."""
    return "".join("".join(f"{n}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n" for n, (word, tag) in enumerate(each, start=1))
                   + "\n" for each in sentences)


def small():
    for n in range(48):
        noun, verb, place = NOUNS[n % 4], VERBS[n // 4 % 4], PLACES[n % 3]
        yield [("The", "DET"), (noun, "NOUN"), (verb, "VERB"), ("hay", "NOUN"), ("in", "ADP"), (place, "PROPN")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("hmm")
    (where / "train.conllu").write_text(treebank(small()))
    (where / "test.conllu").write_text(treebank([[("The", "DET"), ("toads", "NOUN"), ("eat", "VERB"), ("frogs", "NOUN"),
                                                  ("in", "ADP"), ("Basel", "PROPN")]]))
    names = [[("Ada", "B-PER"), ("Lovelace", "I-PER"), ("met", "O"), (each, "B-LOC")] for each in PLACES] * 4
    (where / "names.tsv").write_text("".join("".join(f"{word}\t{tag}\n" for word, tag in each) + "\n"
                                             for each in names))
    chainrule.train("hmm-tagger", where / "train.conllu", where / "run", valid=where / "test.conllu")
    return where


def test_a_run_gives_the_tags_that_it_gave_before_it_was_saved(folder):
    run = chainrule.load(folder / "run")
    assert all(isinstance(run.model, each) for each in (Tagger, WeighsTags, KnowsWords, ChainsTags, ExplainsTags))
    fresh = HiddenMarkovTagger(counted([zip(*each, strict=True) for each in small()]), How())
    sentences = [["The", "toads", "eat", "hay", "in", "Oslo"], ["hay"], [], ["Rome", "in", "THE", "Frogs", "7"]]
    assert run.model.tag(sentences) == fresh.tag(sentences)
    for one, other in zip(run.model.probabilities(sentences), fresh.probabilities(sentences), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one.sum(axis=1), 1, rtol=1e-5)
    assert run.model.tag(sentences)[0] == ["DET", "NOUN", "VERB", "NOUN", "ADP", "PROPN"]
    assert run.report["valid"]["accuracy"] == 1.0 and run.report["valid"]["unknown_words"] == 2
    assert run.report["words"] == 6 * 48 and sum(run.report["weights"]) == pytest.approx(1)


def test_saving_again_writes_the_same_files(folder, tmp_path):
    chainrule.save(chainrule.load(folder / "run"), tmp_path / "again")
    for name in ("model.safetensors", "known.json", "recipe.yaml"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / "run" / name).read_bytes()


def test_a_capital_that_training_never_had_is_tagged():
    model = HiddenMarkovTagger(counted([(["a", "cow"], ["DET", "NOUN"])] * 3), How())
    assert model.tag([["A", "Cow", "COW"]]) == [["DET", "NOUN", "NOUN"]]
    assert np.isfinite(model.probabilities([["A", "Ünknown", "?"]])[0]).all()


@pytest.mark.parametrize("how", [How(order=1), How(order=2), How(ending=0), How(word_strength=0.0),
                                 How(weights=(0.2, 0.3, 0.5)), How(rare=1)])
def test_every_option_makes_a_tagger(how):
    model = HiddenMarkovTagger(counted([zip(*each, strict=True) for each in small()]), how)
    assert model.tag([["The", "cows", "eat", "hay"]]) == [["DET", "NOUN", "VERB", "NOUN"]]


def test_a_word_that_was_seen_keeps_to_its_tags_without_strength():
    sentences = [(["can", "can"], ["AUX", "NOUN"]), (["cats"], ["NOUN"])]
    for strength, expected in ((0.0, {"AUX"}), (1.0, {"AUX", "NOUN"})):
        model = HiddenMarkovTagger(counted([(["may"], ["AUX"]), *sentences] * 2), How(word_strength=strength))
        assert set(np.array(model.tags)[model.tags_of("may") > 0]) == expected


def test_entities_are_tagged_and_measured(folder, tmp_path):
    report = chainrule.train("hmm-tagger", folder / "names.tsv", tmp_path / "names", valid=folder / "names.tsv")
    assert report["valid"]["f1"] == 1.0
    assert chainrule.tag(tmp_path / "names", ["Ada Lovelace met Bonn"]) == [
        [("Ada", "B-PER"), ("Lovelace", "I-PER"), ("met", "O"), ("Bonn", "B-LOC")]]


def test_why_names_endings_counts_and_other_spellings(folder):
    model = chainrule.load(folder / "run").model
    toads = model.why("toads")
    assert not toads["known"] and toads["endings"][-1]["ending"] == "s" and list(toads["tags"])[0] == "NOUN"
    assert model.why("hay")["counts"] == {"NOUN": 48} and model.why("Hay")["other_spelling"] == "hay"
    table = model.tag_transitions()
    assert table[model.tags.index("DET"), model.tags.index("NOUN")] == 1.0


@pytest.mark.parametrize(("change", "words"), [
    ("model.order=4", "model.order = 4, expected"),
    ("model.weights=[1,2]", r"model.weights = \[1, 2\], expected 3 numbers above 0"),
    ("model.word_strength=-1", "model.word_strength = -1"),
    ("model.ordr=2", "Did you mean 'order'?"),
    ("tokenizer=words", "tokenizer = 'words', expected null. Tagged sentences are words already."),
    ("task.inputs.vectors=x.vec", "task.inputs.vectors = 'x.vec', expected null as it is."),
    ("task.scheme=bioes", "task.scheme = 'bioes', expected null, since the tags mark no entities"),
    ("task=language", "expected tagging in this family"),
])
def test_what_does_not_fit_is_told(change, words, folder, tmp_path):
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        chainrule.train("hmm-tagger", folder / "train.conllu", tmp_path / "run", overrides=[change])
    assert not (tmp_path / "run").exists()


def test_too_many_tags_for_three_in_a_row_are_told(monkeypatch):
    monkeypatch.setattr("chainrule.counting.hidden_markov.transitions.MOST", 100)
    with pytest.raises(UsageError, match="model.order = 3, expected 2. 5 tags are too many for three in a row."):
        _ = HiddenMarkovTagger(counted([zip(*each, strict=True) for each in small()]), How()).chain


def sealed(run):
    """A manifest that vouches for whatever is there."""
    files = [path for path in sorted(run.rglob("*")) if path.is_file() and path.name != NAME]
    (run / NAME).write_bytes(manifest_bytes({path.relative_to(run).as_posix(): hashed(path) for path in files}))


@pytest.mark.parametrize(("name", "change", "words"), [
    ("word_tags", lambda a: a + 5, "the array 'word_tags' points outside its target"),
    ("word_counts", lambda a: a - 100, "the array 'word_counts' has a count below 1"),
    ("word_counts", lambda a: a[:-1], "the array 'word_counts' has the shape"),
    ("starts", lambda a: a[::-1], "the array 'starts' does not run from 0 to"),
    ("trigrams", lambda a: a - 1, "the array 'trigrams' points outside its target"),
    ("trigrams", lambda a: a[:, :2], "the array 'trigrams' has the shape"),
    ("trigram_counts", lambda a: a.astype(np.float32), "the array 'trigram_counts' holds float32"),
    ("trigram_counts", lambda a: None, "the array 'trigram_counts' is missing"),
    ("other", lambda a: np.zeros(3), "the array 'other' is unknown"),
])
def test_damaged_counts_are_told(name, change, words, folder, tmp_path):
    shutil.copytree(folder / "run", tmp_path / "run")
    path = tmp_path / "run" / "model.safetensors"
    arrays = {key: np.array(value) for key, value in open_tensors(path).items()}
    arrays[name] = change(arrays.get(name))
    path.unlink()
    save_tensors(path, {key: value for key, value in arrays.items() if value is not None})
    sealed(tmp_path / "run")
    with pytest.raises(StorageError, match=words):
        chainrule.load(tmp_path / "run")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tags": ["A"], "words": [3]}',
                                  '{"tags": ["A", "A"], "words": ["b"]}', '{"tags": "AB", "words": ["b"]}'])
def test_damaged_names_are_told(text, folder, tmp_path):
    shutil.copytree(folder / "run", tmp_path / "run")
    (tmp_path / "run" / "known.json").write_text(text)
    sealed(tmp_path / "run")
    with pytest.raises(StorageError, match=r"known.json: "):
        chainrule.load(tmp_path / "run")


def test_no_torch_is_needed(folder, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise RuntimeError('nobody may import torch here')\n")

    def ran(*words):
        done = subprocess.run([sys.executable, "-m", "chainrule", *map(str, words)], cwd=tmp_path, text=True,
                              capture_output=True, timeout=600,
                              env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"})
        assert done.returncode == 0, done.stderr
        assert "nobody may" not in done.stderr
        return done.stdout

    ran("train", "hmm-tagger", "--data", folder / "train.conllu", "--valid", folder / "test.conllu", "--out", "run")
    assert json.loads(ran("evaluate", "run", "--data", folder / "test.conllu", "--json"))["accuracy"] == 1.0
    assert ran("tag", "run", "The cows eat hay", "--as", "inline") == "The/DET cows/NOUN eat/VERB hay/NOUN\n"
    shown = ran("inspect", "run", "The toads eat hay")
    assert "DET → NOUN" in shown and "unknown word, -s (" in shown
    found = json.loads(ran("compare", "hmm-tagger", "hmm-tagger", "model.order=1", "--data", folder / "train.conllu",
                           "--out", "report", "--json"))
    assert {"hmm-tagger", "hmm-tagger order=1"} <= {row["name"] for row in found["rows"]}
    for log in ("hmm-tagger", "hmm-tagger-order-1"):
        assert "nobody may" not in (tmp_path / "report" / "trials" / f"{log}.log").read_text()
