"""`chainrule inspect` shows gradients of runs and recipes, as numbers and as pictures."""

import json
import subprocess
from xml.etree import ElementTree

import pytest
import warm_python

SMALL = """
family: neural
tokenizer: characters
model: {pattern: rr, width: 16, context: 32, r: {name: elman, recurrent: uniform}, norm: none, wiring: plain,
        position: none}
training: {budget: {steps: 3}, batch: 2}
"""
TEXT = "the cat sat on the mat, and the dog lay by the door all day long.\n" * 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    (folder / "rnn.yaml").write_text(SMALL)
    (folder / "text.txt").write_text(TEXT)
    return folder


def inspect(folder, *words, code=0):
    done = subprocess.run([warm_python.chainrule(), "inspect", *words], cwd=folder, text=True,
                          capture_output=True, timeout=600)
    assert done.returncode == code, done.stderr
    return done


def test_recipes_are_compared_in_one_picture(folder):
    words = ["rnn.yaml", "rnn.yaml", "model.r.gain=9", "rnn.yaml", "model.r=lstm", "--gradients", "--data", "text.txt"]
    found = json.loads(inspect(folder, *words, "--out", "three.svg", "--json").stdout)
    assert [each["name"] for each in found["models"]] == ["rnn.yaml", "rnn.yaml r.gain=9", "rnn.yaml r=lstm"]
    small, large, lstm = (each["by_distance"][0] for each in found["models"])
    assert len(small) == 51 and small[30] / small[1] < 1e-3 < lstm[30] / lstm[1] < 1e2 < large[30] / large[1]
    assert found["models"][1]["clipped"] == 1.0 < found["models"][1]["norm"]
    texts = [node.text for node in ElementTree.parse(folder / "three.svg").iter() if node.text]
    assert "rnn.yaml r.gain=9" in texts


def test_a_run_is_read_by_layer(folder):
    train = [warm_python.chainrule(), "train", "rnn.yaml", "--data", "text.txt", "--out", "run"]
    subprocess.run(train, cwd=folder, check=True, capture_output=True, timeout=600)
    words = ["run", "--gradients", "--text", "text.txt", "--distance", "20", "--out", "run.html"]
    assert "0 elman" in inspect(folder, *words).stdout
    page = (folder / "run.html").read_text()
    assert "1 elman" in page and "<svg" in page
    refused = inspect(folder, "run", "model.r.gain=2", "--gradients", code=2)
    assert "is trained" in refused.stderr


@pytest.mark.parametrize(("words", "said"), [
    (["rnn.yaml"], "Try --text FILE"),
    (["ngram", "--gradients"], "its family is ngram"),
    (["model.width=3", "rnn.yaml", "--gradients"], "expected the recipe before it"),
    (["rnn.yaml", "--gradients", "--out", "x.pdf"], "ends in .html, .svg or .png"),
    (["nothing", "--gradients"], "no run folder, recipe or example is named 'nothing'"),
    (["through-tim", "--gradients"], "example is named 'through-tim'. Did you mean 'through-time'?"),
])
def test_an_impossible_inspection_is_reported_in_one_line(folder, words, said):
    done = inspect(folder, *words, code=2)
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_picture_that_cannot_be_written_is_one_line_and_an_older_one_gives_way(folder):
    words = ["rnn.yaml", "--gradients", "--data", "text.txt", "--distance", "5", "--rows", "2", "--out"]
    done = inspect(folder, *words, "nowhere/x.svg", code=1)
    assert "nowhere/x.svg: not written: No such file or directory." in done.stderr
    (folder / "old.svg").write_text("older")
    inspect(folder, *words, "old.svg")
    assert ElementTree.parse(folder / "old.svg").getroot().tag.endswith("svg")


def test_a_text_that_is_too_short_is_reported(folder):
    (folder / "short.txt").write_text("short")
    done = inspect(folder, "rnn.yaml", "--gradients", "--data", "short.txt", code=1)
    assert "expected at least 52" in done.stderr
