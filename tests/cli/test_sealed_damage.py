"""Runs whose files are damaged and whose manifest vouches for them all the same: one clear line, never a bug."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from chainrule.cli.app import main
from chainrule.errors import StorageError
from chainrule.storage.manifest import NAME, hashed, manifest_bytes
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.verbs.train import train

DEEP = "[" * 200_000


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small run of each family that a hostile folder may pretend to be."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "text.txt").write_text("the cat sat on the mat\nthe dog sat on the cat\na cat and a dog\n" * 20)
    (folder / "labeled.txt").write_text("__label__a the cat sat\n__label__b the dog ran\n" * 20)
    train("ngram", folder / "text.txt", folder / "ngram", overrides=["model.order=3"])
    train("text-classifier", folder / "labeled.txt", folder / "classifier", overrides=["training.epochs=1"])
    train("skipgram", folder / "text.txt", folder / "vectors", overrides=["training.epochs=1", "model.dimension=4"])
    train("lstm", folder / "text.txt", folder / "lstm", overrides=["model.width=8", "training.budget.steps=1"])
    return folder


@pytest.fixture
def run(made, tmp_path, monkeypatch, capfd):
    """Copies a run, damages it by a function, seals it again, and uses it."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(made / "text.txt", tmp_path)

    def used(family, damage, verb=None, code=1):
        shutil.copytree(made / family, "run")
        damage(Path("run"))
        files = [path for path in sorted(Path("run").rglob("*")) if path.is_file() and path.name != NAME]
        Path("run", NAME).write_bytes(manifest_bytes({path.relative_to("run").as_posix(): hashed(path)
                                                      for path in files}))
        verb = verb or {"classifier": ["predict", "run", "text.txt"], "vectors": ["neighbors", "run", "cat"]}.get(
            family, ["score", "run", "text.txt"])
        with pytest.raises(SystemExit) as ended:
            main(verb)
        out, err = capfd.readouterr()
        assert (ended.value.code, out) == (code, ""), (ended.value.code, out, err)
        assert err.startswith("chainrule: run") and err.count("\n") == 1 and "This is a bug" not in err, err
        return err
    return used


def written(name, text):
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize("text", ["", "[1, 2", "5", "[]", "[5]", '[{"label": 3, "count": 1}]', '{"label": "a"}', DEEP,
                                  '[{"label": "a", "count": 1e400}]', '[{"label": "a", "count": 9999999999999999999}]'])
def test_labels_that_are_none_are_refused(run, text):
    assert "run/labels.json: expected a list of labels, each with its count." in run("classifier",
                                                                                    written("labels.json", text))


def test_labels_that_do_not_fit_the_weights_are_refused(run):
    three = json.dumps([{"label": each, "count": 1} for each in "abc"])
    assert "the array 'outputs' has the shape 2 × 100, expected 3 × any." in run("classifier",
                                                                                written("labels.json", three))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", DEEP])
def test_a_report_that_is_none_is_refused(run, text):
    assert "run/report.json: " in run("ngram", written("report.json", text))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model": 5}', DEEP])
def test_a_tokenizer_that_is_none_is_refused(run, text):
    assert "run/tokenizer.json: not a tokenizer that chainrule wrote" in run("ngram", written("tokenizer.json", text))


@pytest.mark.parametrize("text", ['{"step": 1}\n{"step"\n', "5\n", DEEP])
def test_metrics_that_are_none_are_refused(run, text):
    said = run("lstm", written("metrics.jsonl", text), ["export", "run", "--to", "engine", "out"])
    assert re.search("run/metrics.jsonl: line [12]: (not JSON|a JSON int)", said) and not Path("out").exists()


@pytest.mark.parametrize("text", ["", "[", "5", "family: [" * 2000, DEEP])
def test_a_recipe_that_is_none_is_refused(run, text):
    assert "recipe.yaml" in run("ngram", written("recipe.yaml", text), code=2)


def renamed(folder):
    tensors = {f"other.{name}": np.array(array) for name, array in open_tensors(folder / "model.safetensors").items()}
    (folder / "model.safetensors").unlink()
    save_tensors(folder / "model.safetensors", tensors)


def emptied(folder):
    (folder / "model.safetensors").unlink()
    save_tensors(folder / "model.safetensors", {})


@pytest.mark.parametrize("damage", [renamed, emptied])
@pytest.mark.parametrize("family", ["ngram", "classifier", "vectors", "lstm"])
def test_tensors_of_other_names_are_refused(run, family, damage):
    said = run(family, damage)
    assert "the weights belong to another model" in said or re.search("the array '.*' is (missing|unknown)", said), said


@pytest.mark.parametrize("shape", [[2**62, 0], [2**64, 0], [1] * 100 + [0]])
def test_shapes_that_no_array_has_are_refused(tmp_path, shape):
    header = json.dumps({"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}}).encode()
    (tmp_path / "t").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(StorageError, match="broken safetensors header: 'a' has shape"):
        open_tensors(tmp_path / "t")
