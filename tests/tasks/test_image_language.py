"""Images learned pixel by pixel: what is read, measured, compared and drawn."""

import json
import math

import numpy as np
import pytest
from PIL import Image

import chainrule
from chainrule.errors import DataError, OptionError, UsageError
from chainrule.inputs.image_arrays import write_idx
from chainrule.recipe.recipe import load_recipe, make_recipe
from chainrule.recipe.registry import build
from chainrule.verbs.generate import Sampling, write_files

pytestmark = pytest.mark.usefixtures("one_thread")
RECIPE = {"family": "neural", "tokenizer": None, "task": {"name": "image_language", "levels": 4},
          "model": {"pattern": "s", "width": 16, "context": 30, "position": "learned", "head": "untied"},
          "training": {"budget": {"steps": 60}, "batch": 16, "device": "cpu", "schedule": "constant",
                       "optimizer": {"name": "adamw", "rate": 0.01}}}


def stripes(count, seed):
    """Images of 6 × 5 whose columns are all bright or all dark: the first row says everything."""
    first = np.random.default_rng(seed).integers(0, 2, (count, 1, 5)) * 255
    return np.repeat(first, 6, axis=1)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stripes")
    for name, seed in (("train", 0), ("test", 1)):
        write_idx(folder / f"{name}-images-idx3-ubyte", stripes(64, seed))
    chainrule.train(make_recipe(RECIPE), folder / "train-images-idx3-ubyte", folder / "run",
                    valid=folder / "test-images-idx3-ubyte")
    return folder


def test_what_the_first_row_says_costs_nothing_below_it(trained):
    found = chainrule.evaluate(trained / "run", trained / "test-images-idx3-ubyte")
    assert found["images"] == 64 and found["pixels"] == 64 * 30 and found["levels"] == 4
    assert 5 / 30 < found["bits_per_pixel"] < 0.45  # five bits an image are chance
    low, high = found["interval"]["bits_per_pixel"]
    assert low < found["bits_per_pixel"] < high
    assert found["nats_per_image"] == pytest.approx(found["bits_per_pixel"] * 30 * math.log(2))


def test_known_facts_are_kept_by_the_run(trained):
    facts = json.loads((trained / "run" / "known.json").read_text())
    assert facts == {"size": [6, 5], "channels": 1, "palette": [[0], [85], [170], [255]]}
    assert not (trained / "run" / "tokenizer.json").exists()


def test_the_upper_half_of_an_image_is_completed(trained, tmp_path):
    image = stripes(1, 3)[0].astype(np.uint8)
    Image.fromarray(image).save(tmp_path / "half.png")
    run = chainrule.load(trained / "run")
    [likeliest] = chainrule.generate(run, str(tmp_path / "half.png"), sampling=Sampling(temperature=0))
    drawn = chainrule.generate(run, str(tmp_path / "half.png"), num=3)
    pictures = run.model.pictures(np.array([each.ids for each in [likeliest, *drawn]]))[..., 0]
    assert np.array_equal(pictures[:, :3], np.stack([image[:3]] * 4))
    assert (pictures[0] == image).all() and 0 < (image == 255).mean() < 1
    assert "@@" in likeliest.text and likeliest.text.count("\n") == 6
    [path] = write_files(run, "", drawn, tmp_path / "grid.png")
    assert Image.open(path).size == (2 * 5 * 18 + 2, 2 * 6 * 18 + 2)


def test_drawing_depends_on_the_seed_alone(trained):
    one, again, other = ([each.ids for each in chainrule.generate(trained / "run", num=4, sampling=Sampling(seed=seed))]
                         for seed in (1, 1, 2))
    assert one == again != other


def test_models_of_images_are_compared_by_bits_per_pixel(trained):
    recipe = make_recipe(RECIPE)
    contest = build("tasks", recipe.task).contest(recipe, [str(trained / "train-images-idx3-ubyte")],
                                                  [str(trained / "test-images-idx3-ubyte")], fraction=0.1, seed=0)
    answers = contest.answers(chainrule.load(trained / "run"))
    measured = chainrule.evaluate(trained / "run", trained / "test-images-idx3-ubyte", bootstrap=0)
    assert contest.measure.value(answers.table) == pytest.approx(measured["bits_per_pixel"])
    [(name, rule)] = contest.baselines().items()
    assert name == "frequencies by place" and contest.units == "images"
    bright = stripes(64, 0)[:, 0] == 255
    p = (bright.sum(0) + 1) / (64 + 4)
    bits = [-np.log2(np.where(row, p, 1 - p - 2 / 68)).sum() * 6 / 30 for row in stripes(64, 1)[:, 0] == 255]
    assert contest.measure.value(rule.table) == pytest.approx(np.mean(bits))
    assert contest.facts() == {"train_images": 64, "held_out_images": 64}


def test_without_held_out_images_some_are_set_aside(trained):
    recipe = make_recipe(RECIPE)
    contest = build("tasks", recipe.task).contest(recipe, [str(trained / "train-images-idx3-ubyte")], None,
                                                  fraction=0.25, seed=0)
    assert contest.facts() == {"train_images": 48, "held_out_images": 16} and contest.split == 0.25


def test_more_pixels_than_the_context_are_refused(trained, tmp_path):
    with pytest.raises(OptionError, match=r"model.context = 20, expected at least 30, the pixels of an image of 6 × 5. "
                                          r"Or read smaller images: task.size=\[14,14\]"):
        chainrule.train(make_recipe(RECIPE, ["model.context=20"]), trained / "train-images-idx3-ubyte", tmp_path / "x")


def test_a_training_that_goes_on_keeps_size_and_colors(trained, tmp_path):
    Image.fromarray(np.full((9, 9, 3), 80, np.uint8)).save(tmp_path / "red.png")
    (tmp_path / "table.csv").write_text("image\nred.png\n")
    chainrule.train(make_recipe(RECIPE, ["training.budget.steps=1"]), tmp_path / "table.csv", tmp_path / "run",
                    start_from=trained / "run")
    assert (tmp_path / "run" / "known.json").read_text() == (trained / "run" / "known.json").read_text()


def test_images_of_two_sizes_need_one(tmp_path):
    for side in (4, 5):
        Image.fromarray(np.zeros((side, side), np.uint8)).save(tmp_path / f"{side}.png")
    with pytest.raises(DataError, match=r"5.png: 5 × 5 pixels, and .*4.png has 4 × 4: expected one size. Set it: "
                                        r"task.size=\[4,4\]"):
        chainrule.train(make_recipe(RECIPE), tmp_path, tmp_path / "run")


def test_colors_are_those_of_a_palette(tmp_path):
    for n in range(6):
        Image.fromarray(np.random.default_rng(n).integers(0, 256, (4, 4, 3), np.uint8)).save(tmp_path / f"{n}.png")
    report = chainrule.train(make_recipe(RECIPE, ["training.budget.steps=2"]), tmp_path, tmp_path / "run",
                             valid=tmp_path / "0.png")
    assert report["valid"]["levels"] == 4 and report["valid"]["images"] == 1
    [found] = chainrule.generate(tmp_path / "run")
    assert chainrule.load(tmp_path / "run").model.pictures(np.array([found.ids])).shape == (1, 4, 4, 3)


@pytest.mark.parametrize(("how", "error", "message"), [
    ({"sampling": Sampling(beams=3)}, UsageError, "the likeliest image is empty"),
    ({"num": 0}, OptionError, "num = 0, expected at least 1"),
    ({"num": 2, "sampling": Sampling(temperature=0)}, OptionError, "num = 2, expected at most 1"),
    ({"stop": ["x"]}, OptionError, "What is written is no text"),
    ({"prompt": "nothing.png"}, DataError, "nothing.png: no such file or folder"),
])
def test_what_cannot_be_drawn_is_refused(trained, how, error, message):
    with pytest.raises(error, match=message):
        chainrule.generate(trained / "run", **how)


def test_a_prompt_is_one_image(trained):
    with pytest.raises(OptionError, match=r"--prompt = .*expected one image, and not 64"):
        chainrule.generate(trained / "run", str(trained / "test-images-idx3-ubyte"))


def test_the_number_of_levels_has_bounds():
    with pytest.raises(OptionError, match=r"task.levels = 1, expected 2 to 256"):
        build("tasks", {"name": "image_language", "levels": 1})
    assert build("tasks", load_recipe("pixel-lm").task).levels == 16
