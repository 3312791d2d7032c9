"""Captions on the command line: describe, translate, inspect; and one line for each mistake."""

import json

import numpy as np
import pytest
from command_line import in_this_process, refused
from PIL import Image

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = ["training.budget.steps=60", "training.batch=6", "model.width=16", "training.device=cpu",
         "tokenizer.min_count=1", "training.optimizer.rate=0.02", "model.dropout.rate=0.0", "task.inputs.size=null",
         "task.inputs.zoom=0.0", "model.source.embedding.channels=[8]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import chainrule

    folder, draw = tmp_path_factory.mktemp("describe"), np.random.default_rng(0)
    (folder / "photos").mkdir()
    for n in range(6):
        Image.fromarray(draw.integers(0, 255, (8, 8, 3), np.uint8)).save(folder / "photos" / f"{n}.png")
    rows = [f"photos/{n}.png,{'some noise' if n % 2 else 'a picture of noise'}" for n in range(6)]
    (folder / "captions.csv").write_text("\n".join(["image,caption", *rows]) + "\n")
    (folder / "photos.csv").write_text("image\nphotos/1.png\nphotos/1.png\nphotos/2.png\n")
    (folder / "bad.png").write_bytes(b"nothing")
    chainrule.train("captioner", folder / "captions.csv", folder / "run", overrides=SMALL)
    return folder


@pytest.fixture
def command(capsys):
    return in_this_process(capsys)


def test_files_folders_and_tables_are_described(command, folder):
    one = command("describe", folder / "run", folder / "photos/0.png", "--scores")
    assert one.code == 0 and len(one.out.splitlines()) == 1 and float(one.out.split("\t")[0]) < 0
    found = json.loads(command("describe", folder / "run", folder / "photos", "--num", 2, "--json").out)
    assert [row["image"] for row in found["images"]] == [str(folder / f"photos/{n}.png") for n in range(6)]
    assert all(len(row["captions"]) == 2 for row in found["images"])
    table = command("describe", folder / "run", folder / "photos.csv")
    assert [line.split("\t")[0] for line in table.out.splitlines()] == [str(folder / f"photos/{n}.png") for n in (1, 2)]


def test_translate_says_the_same(command, folder):
    same = [command(verb, folder / "run", folder / "photos/3.png").out for verb in ("describe", "translate")]
    assert same[0] == same[1] and same[0].strip()


def test_a_page_shows_where_it_looked(command, folder):
    done = command("inspect", folder / "run", folder / "photos/2.png", "--out", folder / "where.html")
    page = (folder / "where.html").read_text()
    assert done.code == 0 and "Where it looked for each word, of 2 × 2 places" in done.out
    assert page.startswith("<!doctype html>") and "<script" not in page and page.count("data:image/png") > 2
    for name in ("where.svg", "where.png"):
        assert command("inspect", folder / "run", folder / "photos/2.png", "--out", folder / name).code == 0
    assert (folder / "where.png").read_bytes().startswith(b"\x89PNG")


def test_the_run_says_how_it_is_used(folder):
    assert "chainrule describe THIS_FOLDER IMAGE" in (folder / "run" / "README.md").read_text()


@pytest.mark.parametrize(("args", "code", "words"), [
    (["describe", "RUN", "bad.png"], 1, ["bad.png: not an image that can be read"]),
    (["describe", "RUN", "none.png"], 1, ["none.png: no such file or folder."]),
    (["inspect", "RUN"], 2, ["there is nothing to look at. Give an image"]),
    (["inspect", "RUN", "photos/0.png", "--top", "3"], 2, ["--top = 3 does nothing with a captioner"]),
    (["predict", "RUN", "photos/0.png"], 2, ["holds a translator; predict needs a classifier"]),
])
def test_mistakes_are_one_line(command, folder, monkeypatch, args, code, words):
    monkeypatch.chdir(folder)
    refused(command(*("run" if word == "RUN" else word for word in args)), code, *words)
