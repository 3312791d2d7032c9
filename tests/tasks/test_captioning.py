"""Captioning: what is read from tables, several captions of an image, splits by image, rules and runs."""

import json

import numpy as np
import pytest

import chainrule
from chainrule.errors import DataError, OptionError, UsageError
from chainrule.inputs.captioned import Columns, open_captioned
from chainrule.recipe.registry import build
from chainrule.tasks._nearest_captions import averaged, nearest_captions
from chainrule.text.options import TextOptions

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("one_thread")
COLORS = {"red": (220, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 220), "white": (230, 230, 230)}
QUICK = ["task.inputs.size=null", "task.inputs.shift=0", "task.inputs.zoom=0.0", "model.width=32",
         "model.embedding.deviation=0.5", "model.dropout.rate=0.0", "model.source.embedding.channels=[8,16]",
         "tokenizer.min_count=1", "training.budget.steps=120", "training.batch=16", "training.optimizer.rate=0.01",
         "training.patience=null", "training.device=cpu"]


def images(count, seed):
    """Pictures of 16 × 16 pixels, half of them of one color, with the color's name."""
    draw, names = np.random.default_rng(seed), list(COLORS)
    for n in range(count):
        name = names[n % len(names)]
        picture = draw.integers(0, 60, (16, 16, 3))
        half = slice(0, 8) if n % 8 < 4 else slice(8, 16)
        picture[half] = np.clip(np.array(COLORS[name]) + draw.integers(-20, 20, (8, 16, 3)), 0, 255)
        yield picture.astype(np.uint8), name, "top" if n % 8 < 4 else "bottom"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("captions"), ["split\timage\tcaption"]
    every = list(images(48, 0))
    np.save(folder / "photos.npy", np.stack([picture for picture, _, _ in every]))
    for n, (_, name, where) in enumerate(every):
        part = "test" if n >= 32 else "train"
        rows += [f"{part}\tphotos.npy#{n}\t{name} at the {where}", f"{part}\tphotos.npy#{n}\tthe {where} is {name}"]
    (folder / "captions.tsv").write_text("\n".join(rows) + "\n")
    return folder


@pytest.fixture(scope="module")
def run(folder):
    chainrule.train("captioner", f"{folder}/captions.tsv:train", folder / "run", valid=f"{folder}/captions.tsv:test",
                    overrides=QUICK)
    return folder / "run"


def opened(folder, part="train", **columns):
    return open_captioned(f"{folder}/captions.tsv:{part}", Columns(**columns), TextOptions())


def test_it_learns_to_say_what_it_sees(folder, run):
    found = chainrule.evaluate(run, f"{folder}/captions.tsv:test", bootstrap=50)
    assert found["images"] == 16 and found["references"] == 32
    assert found["bleu"] > 60 and found["chrf"] > 60 and found["signature"].startswith("nrefs:2|bs:50|")
    low, high = found["interval"]["bleu"]
    assert low <= found["bleu"] <= high + 1e-6
    named = chainrule.describe(run, [f"{folder}/photos.npy#{n}" for n in range(32, 36)], beams=2)
    assert [name for name, own in zip(COLORS, named.values(), strict=True) if name not in own[0].text] == []


def test_an_image_is_held_once_however_many_captions_it_has(folder, run):
    loaded = chainrule.load(run)
    task, pairs = build("tasks", loaded.recipe.task), list(opened(folder))
    arrays = task.encoded_sources([each.source for each in pairs], loaded.model.known, 1 << 30)
    assert len(arrays) == 64 and len({id(each) for each in arrays}) == 32
    assert all(arrays[n] is arrays[n + 1] for n in range(0, 64, 2))


def test_a_split_never_parts_the_captions_of_an_image(folder):
    task, corpus = build("tasks", "captioning"), opened(folder)
    train, held = task.split(corpus, 0.25, 3)
    assert len(held.images) == 8 and len(train.images) == 24
    assert not set(train.images) & set(held.images)
    assert len(train.rows) + len(held.rows) == len(corpus.rows)
    assert train.fingerprint() != held.fingerprint() != corpus.fingerprint()
    assert "split 0.25" in train.name
    folds = [task.fold(corpus, k, 4, 0)[1] for k in range(4)]
    assert sorted(source for each in folds for source in each.images) == sorted(corpus.images)


def test_the_nearest_image_lends_its_caption(folder):
    train, held = opened(folder), opened(folder, "test")
    found = nearest_captions(train, list(held.images), build("inputs/modalities", "images"))
    wanted = list(dict.fromkeys((each.source, each.target.decode()) for each in held))[::2]
    assert found == [text for _, text in wanted]


@pytest.mark.parametrize(("height", "width"), [(16, 16), (33, 50), (3, 7)])
def test_averages_are_means_of_rectangles(height, width):
    image = np.random.default_rng(0).random((height, width, 3))
    small = averaged(image, 8)
    rows, columns = (np.linspace(0, size, min(8, size) + 1).astype(int) for size in (height, width))
    for r in range(len(rows) - 1):
        for c in range(len(columns) - 1):
            own = image[rows[r]:rows[r + 1], columns[c]:columns[c + 1]].mean(axis=(0, 1))
            np.testing.assert_allclose(small[r, c], own)


def test_models_are_compared_with_the_nearest_caption(folder, warm_trials):
    terms = chainrule.Terms(changes=[each for each in QUICK if "budget" not in each],
                            valid=f"{folder}/captions.tsv:test")
    report = chainrule.compare(["captioner"], f"{folder}/captions.tsv:train", folder / "report", budget="3000tokens",
                               terms=terms)
    rows = {row["name"]: row for row in report["rows"]}
    assert report["measure"]["label"] == "BLEU" and set(rows) == {"captioner", "caption of the nearest image"}
    assert rows["caption of the nearest image"]["value"] > 90  # there are as many captions as kinds of image


def test_each_word_looked_somewhere(folder, run):
    from chainrule.inspection.captions import caption_figure, explain_captions

    found = explain_captions(run, [f"{folder}/photos.npy#32"])["pictures"][0]
    assert [own["word"] for own in found["words"]] == found["caption"].split() and found["grid"] == [2, 2]
    for own in found["words"]:
        assert np.shape(own["weights"]) == (2, 2) and np.sum(own["weights"]) == pytest.approx(1, abs=1e-3)
    figure = caption_figure(found).svg()
    assert figure.count("data:image/png") == 1 + 2 * len(found["words"])


def test_a_map_is_enlarged_by_straight_lines():
    from chainrule.inspection.captions import enlarged

    found = enlarged(np.array([[0.0, 1.0], [0.0, 1.0]]), 4, 8)
    np.testing.assert_allclose(found[0], [0, 0, 0.125, 0.375, 0.625, 0.875, 1, 1])
    assert found.shape == (4, 8) and (found == found[0]).all()


@pytest.mark.parametrize(("rows", "words"), [
    (["image,caption", "photos.npy#3,a b", "photos.npy#99,c"],
     r"table.csv: line 3: .*photos.npy#99: .* has 48 images, the last is #47"),
    (["image,caption", "nothing.png,a b"], r"table.csv: line 2: .*nothing.png: no such file. Paths are relative to"),
    (["image,caption", ",a b"], r"table.csv: line 2: no image in the column 'image', expected a path"),
    (["image,text", "photos.npy#1,a"], r"table.csv: line 1: no column 'caption'"),
    (["split,image,caption", "train,photos.npy#1,a", "test,photos.npy#2,a"],
     r"table.csv: the column 'split' has several splits, train, test …, and none is named, expected for example "),
    (["image,caption", "photos.npy#1"], r"table.csv: line 2: 1 column, expected at least 2"),
])
def test_a_table_that_cannot_be_read_is_one_line(folder, rows, words):
    (folder / "table.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(DataError, match=words):
        open_captioned(folder / "table.csv", Columns(), TextOptions())


def test_a_split_that_is_not_there_is_named(folder):
    with pytest.raises(DataError, match=r"no row of the split 'dev'. It has train, test."):
        opened(folder, "dev")
    with pytest.raises(DataError, match=r"captions.txt: no such file, expected a table"):
        open_captioned(f"{folder}/captions.txt", Columns(), TextOptions())
    with pytest.raises(DataError, match=r"a folder, expected a table"):
        open_captioned(folder, Columns(), TextOptions())
    assert len(open_captioned(folder / "captions.tsv", Columns(split=None), TextOptions()).rows) == 96


def test_records_are_read_too(folder):
    rows = [{"image": "photos.npy#1", "caption": "green", "split": 1}, {"image": "photos.npy#2", "caption": "blue",
                                                                       "split": 2}]
    (folder / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    [one] = open_captioned(f"{folder}/captions.jsonl:2", Columns(), TextOptions()).rows
    assert one.target == b"blue" and one.line == 2


def test_mistakes_are_one_line(folder, run):
    with pytest.raises(OptionError, match=r"task.inputs = 'text', expected images"):
        build("tasks", {"name": "captioning", "inputs": "text"})
    with pytest.raises(UsageError, match=r"describe takes a list of images, not one image"):
        chainrule.describe(run, "photo.png")
    with pytest.raises(DataError, match=r"none.png: no such file or folder"):
        chainrule.describe(run, ["none.png"])
    with pytest.raises(UsageError, match=r"--target = x: a captioner is not trained on pairs"):
        chainrule.train("captioner", f"{folder}/captions.tsv:train", folder / "bad", target="x")
