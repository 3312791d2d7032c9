"""Labeled files: a folder a class, a table that names them, and what is said where one is missing."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from chainrule.errors import DataError
from chainrule.inputs.files import Files, open_files
from chainrule.inputs.labeled import labeled, layout_of, open_labeled
from chainrule.inputs.modalities.images import Images
from chainrule.recipe.recipe import load_recipe

RECIPE = load_recipe("image-cnn")


@pytest.fixture
def folder(tmp_path):
    for label, count in (("cat", 2), ("dog", 3)):
        (tmp_path / "pets" / label).mkdir(parents=True)
        for n in range(count):
            picture = np.full((4, 6), 40 * n + 100 * (label == "dog"), np.uint8)
            Image.fromarray(picture).save(tmp_path / "pets" / label / f"{n}.png")
    return tmp_path


def opened(data, need_labels=True, recipe=RECIPE):
    return open_files(data, recipe, Images(), need_labels=need_labels)


def test_a_folder_is_a_class(folder):
    corpus = open_labeled(str(folder / "pets"), RECIPE, Images())
    rows = list(labeled(corpus, layout_of(RECIPE)))
    assert [each.labels[0] for each in rows] == ["cat"] * 2 + ["dog"] * 3
    assert [each.text.decode() for each in rows][:2] == [str(folder / "pets/cat/0.png"), str(folder / "pets/cat/1.png")]
    assert isinstance(corpus, Files) and len(corpus.files) == 5 and corpus.size > 100


def test_other_files_in_the_folders_are_told(folder, caplog):
    (folder / "pets/cat/notes.txt").write_text("a cat")
    with caplog.at_level(logging.WARNING, "chainrule"):
        assert len(opened(folder / "pets").rows) == 5
    assert "pets: 1 of 6 files left out, which have another ending than .png .jpg" in caplog.text
    assert "cat/notes.txt." in caplog.text


@pytest.mark.parametrize(("name", "text"), [
    ("t.csv", "\ufeffimage,label\npets/cat/0.png,cat\n\npets/dog/1.png,dog\n"),
    ("t.tsv", "label\timage\ncat\tpets/cat/0.png\ndog\tpets/dog/1.png\n"),
    ("t.jsonl", '{"image": "pets/cat/0.png", "label": "cat"}\n{"image": "pets/dog/1.png", "label": "dog"}\n')])
def test_a_table_names_files_in_its_own_folder(folder, name, text):
    (folder / name).write_text(text)
    rows = opened(folder / name).rows
    assert [(each.text.decode(), each.labels) for each in rows] == [
        (str(folder / "pets/cat/0.png"), ("cat",)), (str(folder / "pets/dog/1.png"), ("dog",))]


def test_another_column_can_be_named(folder):
    (folder / "t.csv").write_text("path,kind\npets/cat/0.png,cat\n")
    recipe = load_recipe("image-cnn", ["text.field=path", "task.labels=kind"])
    assert opened(folder / "t.csv", recipe=recipe).rows[0].labels == ("cat",)


@pytest.mark.parametrize(("text", "message"), [
    ("image,label\npets/cat/0.png,cat\npets/cat/9.png,cat\n",
     r"t.csv: line 3: .*pets/cat/9.png: no such file. Paths are relative to the table's folder\."),
    ("image,label\npets/cat/0.png,\n", r"t.csv: line 2: no label, expected one in the field 'label'"),
    ("picture,label\npets/cat/0.png,cat\n", r"t.csv: line 1: no column 'image'"),
    ("image,label\n", r"t.csv: no images, expected one folder a class with images \(.png .jpg"),
])
def test_a_row_that_is_wrong_is_named(folder, text, message):
    (folder / "t.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        opened(folder / "t.csv")


def test_a_damaged_image_of_a_table_is_named_with_its_row(folder):
    (folder / "pets/dog/1.png").write_bytes(b"nothing")
    (folder / "t.csv").write_text("image,label\npets/cat/0.png,cat\npets/dog/1.png,dog\n")
    values = [each.text for each in opened(folder / "t.csv").rows]
    with pytest.raises(DataError, match=r"t.csv: line 3: .*dog/1.png: not an image that can be read"):
        Images().learn(values, SimpleNamespace(start=None))


def test_files_without_labels_are_only_good_where_none_is_asked_for(folder):
    image, flat = folder / "pets/cat/0.png", folder / "pets/cat"
    assert len(opened(image, False).rows) == 1 and len(opened(flat, False).rows) == 2
    assert len(opened([image, folder / "pets/dog"], False).rows) == 4
    assert len(opened(str(folder / "pets/*/0.png"), False).rows) == 2
    with pytest.raises(DataError, match=r"0.png: one image and no label, expected one folder a class"):
        opened(image)
    with pytest.raises(DataError, match=r"pets/cat: a folder without a folder for each class, expected"):
        opened(flat)


def test_what_is_not_there_or_no_image_is_named(folder):
    with pytest.raises(DataError, match=r"nothing.png: no such file or folder\.$"):
        opened(folder / "nothing.png", False)
    (folder / "song.mid").write_bytes(b"MThd")
    with pytest.raises(DataError, match=r"song.mid: not an image by its name, expected one folder a class"):
        opened(folder / "song.mid", False)


def test_the_fingerprint_knows_what_is_in_the_files_and_their_labels(folder):
    (folder / "t.csv").write_text("image,label\npets/cat/0.png,cat\n")
    first = opened(folder / "t.csv").fingerprint()
    assert opened(folder / "t.csv").fingerprint() == first
    Image.fromarray(np.zeros((4, 6), np.uint8) + 9).save(folder / "pets/cat/0.png")
    second = opened(folder / "t.csv").fingerprint()
    (folder / "t.csv").write_text("image,label\npets/cat/0.png,dog\n")
    assert len({first, second, opened(folder / "t.csv").fingerprint()}) == 3
