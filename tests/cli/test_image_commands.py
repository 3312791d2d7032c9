"""Images on the command line: train, predict, evaluate, inspect, generate; and one line for each mistake."""

import json

import numpy as np
import pytest
from command_line import in_this_process, refused
from PIL import Image

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = ["training.budget.steps=12", "training.batch=8", "model.width=16", "training.device=cpu"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Bright and dark pictures in folders of their own, and a run that tells them apart."""
    folder, draw = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    for name, low in (("bright", 150), ("dark", 0)):
        (folder / "train" / name).mkdir(parents=True)
        for n in range(12):
            picture = Image.fromarray(draw.integers(low, low + 100, (16, 16), np.uint8))
            picture.save(folder / "train" / name / f"{n}.png")
    (folder / "bad.png").write_bytes(b"GIF89a nothing")
    (folder / "table.csv").write_text("image,label\ntrain/dark/0.png,dark\ntrain/bright/3.png,bright\n")
    (folder / "missing.csv").write_text("image,label\ntrain/dark/0.png,dark\ntrain/dark/99.png,dark\n")
    return folder


@pytest.fixture(scope="module")
def run(folder):
    import chainrule

    chainrule.train("vit", folder / "train", folder / "run", overrides=[*SMALL, "training.ema=null",
                                                                         "training.optimizer.rate=0.01"])
    return folder / "run"


@pytest.fixture
def command(capsys):
    return in_this_process(capsys)


def test_files_folders_and_tables_get_labels(command, folder, run):
    done = command("predict", run, folder / "train/dark/1.png", folder / "train/bright", "--json")
    found = json.loads(done.out)
    assert done.code == 0 and len(found["images"]) == 13
    assert found["images"][0]["image"] == str(folder / "train/dark/1.png")
    assert [row["labels"][0]["label"] for row in found["images"]] == ["dark"] + ["bright"] * 12
    done = command("predict", run, folder / "table.csv", "--top", 2)
    assert done.out.splitlines()[0].split() == ["image", "label", "probability", "label", "probability"]
    assert [line.split()[1] for line in done.out.splitlines()[1:]] == ["dark", "bright"]


def test_a_run_is_measured_on_folders_and_tables(command, folder, run):
    for data in (folder / "train", folder / "table.csv"):
        found = json.loads(command("evaluate", run, "--data", data, "--json").out)
        assert found["accuracy"] == 1.0 and found["per_label"]["dark"]["f1"] == 1.0
    assert "accuracy" in command("evaluate", run, "--data", folder / "train").out


def test_a_picture_is_looked_at(command, folder, run):
    picture = folder / "train/dark/2.png"
    found = json.loads(command("inspect", run, picture, "--json").out)["pictures"][0]
    assert found["label"] == "dark" and found["runner_up"] == "bright" and found["attention"]
    done = command("inspect", run, picture, "--out", folder / "why.html", "--data", folder / "train")
    page = (folder / "why.html").read_text()
    assert done.code == 0 and "rather than" in done.out and "24 of 24 images right" in done.out
    assert page.startswith("<!doctype html>") and "<script" not in page and page.count("data:image/png") > 5
    assert command("inspect", run, picture, "--out", folder / "why.svg").code == 0
    assert (folder / "why.svg").read_text().startswith("<svg")


def test_the_run_says_how_it_is_used(run):
    card = (run / "README.md").read_text()
    assert "chainrule predict THIS_FOLDER FILE" in card and "chainrule inspect THIS_FOLDER FILE" in card


@pytest.mark.parametrize(("args", "code", "words"), [
    (["predict", "RUN", "bad.png"], 1, ["bad.png: ", "image"]),
    (["predict", "RUN", "none.png"], 1, ["none.png: no such file or folder."]),
    (["predict", "RUN", "missing.csv"], 1, ["missing.csv: line 3: ", "99.png: no such file"]),
    (["evaluate", "RUN", "--data", "train/dark"], 1, ["dark: a folder without a folder for each class"]),
    (["inspect", "RUN"], 2, ["there is nothing to look at. Give a file"]),
    (["inspect", "RUN", "train/dark/0.png", "--text-is", "x"], 2, ["--text-is = x does nothing"]),
    (["inspect", "RUN", "train/dark/0.png", "--out", "a.pdf"], 2, ["--out = 'a.pdf', expected a name"]),
    (["generate", "RUN", "--out", "a.png"], 2, ["--out = 'a.png': ", "writes text, which is printed"]),
    (["train", "vit", "--data", "missing.csv", "--out", "new"], 1, ["missing.csv: line 3: "]),
    (["train", "vit", "--data", "train", "--out", "new", "model.embedding.size=5"], 2, ["size = 5", "divisor"]),
    (["train", "image-cnn", "--data", "train/dark/0.png", "--out", "new"], 1, ["0.png: one image and no label"]),
])
def test_a_mistake_is_one_line(command, folder, run, args, code, words, monkeypatch):
    monkeypatch.chdir(folder)
    refused(command(*(run if word == "RUN" else word for word in args)), code, *words)
    assert not (folder / "new").exists()


def test_pictures_are_drawn_into_one_file(command, folder):
    data, out = folder / "train/dark", folder / "lm"
    done = command("train", "pixel-lm", "--data", data, "--out", out, *SMALL[:3], "model.pattern=s", "task.size=[4,4]",
                   "model.context=16", "split.valid=0.2")
    assert done.code == 0 and "bits per pixel" in done.err + done.out
    done = command("generate", out, "--num", 4, "--out", folder / "new.png", "--seed", 1)
    assert (done.code, done.out) == (0, f"{folder / 'new.png'}\n")
    assert Image.open(folder / "new.png").size == (2 * 4 * 28 + 2, 2 * 4 * 28 + 2)
    found = json.loads(command("generate", out, "--prompt", data / "3.png", "--json").out)
    assert len(found["texts"][0]["ids"]) == 16 and "files" not in found
    refused(command("generate", out, "--out", folder / "new.gif"), 2, "expected a name that ends in .png.")
    refused(command("score", out, data / "3.png"), 2, "holds a model of images; score needs a language model.")
    assert "bits per pixel" in command("evaluate", out, "--data", data).out
