"""A training that starts from a finished run: how recipe and run become one, and what is refused."""

import filecmp
import re

import pytest

import chainrule
from chainrule.errors import ChainruleError, OptionError, StorageError, UsageError
from chainrule.protocols import Family
from chainrule.recipe.recipe import load_recipe, shipped
from chainrule.recipe.registry import find
from chainrule.starting import Start, open_start, resolved
from chainrule.storage.manifest import NAME, hashed
from chainrule.storage.tensors import save_tensors

TINY = ["model.width=6", "model.context=7", "tokenizer=characters", "training.budget.steps=4", "training.batch=3",
        "split.valid=0.2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("starting")
    for name, beast in (("first", "cows"), ("more", "hens")):
        (where / f"{name}.txt").write_text(f"the {beast} eat grass\nand the {beast} sleep\n" * 12)
    chainrule.train("engine-lstm", where / "first.txt", where / "run", overrides=TINY)
    chainrule.train("ngram", where / "first.txt", where / "ngram", overrides=["model.order=2"])
    return where


def test_what_a_recipe_leaves_out_is_as_in_the_run(folder, tmp_path):
    (tmp_path / "short.yaml").write_text("family: engine\ntraining: {budget: {steps: 3}}\n")
    recipe, start = resolved(tmp_path / "short.yaml", ["seed=5"], folder / "run")
    assert recipe.model == start.recipe.model and recipe.tokenizer == start.recipe.tokenizer
    assert recipe.text == start.recipe.text and recipe.training.budget.steps == 3 and recipe.seed == 5
    assert recipe.start_from.run == str(folder / "run")
    assert recipe.start_from.sha256 == start.sha256 == hashed(folder / "run" / NAME).sha256


def test_a_recipe_without_a_run_says_nothing_of_it(folder):
    recipe, start = resolved("ngram", (), None)
    assert start is None and recipe.start_from is None and "start_from" not in recipe.to_yaml()


def test_a_run_as_recipe_is_the_same_as_from(folder, tmp_path):
    for name, recipe, start in (("one", folder / "run", None), ("two", folder / "run" / "recipe.yaml", folder / "run")):
        chainrule.train(recipe, folder / "more.txt", tmp_path / name, start_from=start)
    for file in ("model.safetensors", "tokenizer.json", "recipe.yaml", "metrics.jsonl"):
        assert filecmp.cmp(tmp_path / "one" / file, tmp_path / "two" / file, shallow=False), file


def test_the_recipe_of_a_run_that_went_on_makes_it_again(folder, tmp_path):
    report = chainrule.train(folder / "run", folder / "more.txt", tmp_path / "one")
    assert report["start_from"] == {"run": str(folder / "run"), "sha256": hashed(folder / "run" / NAME).sha256}
    chainrule.train(tmp_path / "one" / "recipe.yaml", folder / "more.txt", tmp_path / "two")
    for file in ("model.safetensors", "recipe.yaml"):
        assert filecmp.cmp(tmp_path / "one" / file, tmp_path / "two" / file, shallow=False), file
    card = (tmp_path / "one" / "README.md").read_text()
    assert f"started from the run `{folder / 'run'}`" in card and report["start_from"]["sha256"] in card
    assert load_recipe(tmp_path / "one").start_from == load_recipe(tmp_path / "two").start_from


def test_a_run_of_a_recipe_that_went_on_is_the_next_start(folder, tmp_path):
    chainrule.train(folder / "run", folder / "more.txt", tmp_path / "one")
    chainrule.train(tmp_path / "one", folder / "first.txt", tmp_path / "two")
    assert chainrule.load(tmp_path / "two").recipe.start_from.run == str(tmp_path / "one")


def test_a_changed_or_missing_source_is_one_clear_line(folder, tmp_path):
    chainrule.train(folder / "run", folder / "first.txt", tmp_path / "source", overrides=["training.budget.steps=1"])
    chainrule.train(tmp_path / "source", folder / "more.txt", tmp_path / "one")
    chainrule.train(folder / "run", folder / "first.txt", tmp_path / "source", overrides=["seed=9"], force=True)
    with pytest.raises(StorageError, match=r"source: not the run that this recipe starts from: .* --from .*source$"):
        chainrule.train(tmp_path / "one" / "recipe.yaml", folder / "more.txt", tmp_path / "two")
    (tmp_path / "source").rename(tmp_path / "moved")
    with pytest.raises(StorageError, match="source: no such run folder"):
        chainrule.train(tmp_path / "one" / "recipe.yaml", folder / "more.txt", tmp_path / "two")
    chainrule.train(tmp_path / "one" / "recipe.yaml", folder / "more.txt", tmp_path / "two",
                    start_from=tmp_path / "moved")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["moved", "one", "two"]


@pytest.mark.parametrize(("recipe", "start", "change", "said"), [
    ("engine-lstm", "run", ["tokenizer=characters"], r"model\.width = \d+, expected 6, as in \S+run"),
    ("engine-lstm", "run", [], r"tokenizer\.name = '\w+', expected 'characters', as in \S+run"),
    (None, "run", ["model.width=8"], r"model\.width = 8, expected 6, as in \S+run"),
    (None, "run", ["text.unit=line"], r"text\.unit = 'line', expected 'auto'"),
    (None, "run", ["model.r=gru"], r"model\.r\.name = 'gru', expected 'lstm'"),
    ("ngram", "run", [], "run: of the family engine, expected ngram"),
    ("lstm", "run", [], "run: of the family engine, expected neural"),
    ("engine-lstm", "nowhere", [], "no such run folder"),
])
def test_what_does_not_fit_is_refused_in_one_line(folder, recipe, start, change, said, tmp_path):
    with pytest.raises(ChainruleError, match=said) as caught:
        chainrule.train(recipe or folder / start, folder / "more.txt", tmp_path / "out", overrides=change,
                        start_from=folder / start)
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())


def test_a_folder_of_counts_is_no_start(folder, tmp_path):
    chainrule.count(folder / "first.txt", tmp_path / "counts")
    with pytest.raises(StorageError, match="holds counts, not a model"):
        open_start(tmp_path / "counts")


def test_a_family_that_does_not_say_how_says_that_it_cannot(folder):
    class Silent(Family):
        """A family that was written before runs could go on."""

    start = open_start(folder / "ngram")
    with pytest.raises(UsageError, match="a training of the family 'ngram' cannot start from a finished run"):
        Silent.check_start(start.recipe, start)


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_recipe_goes_on_or_says_why_not(name, tmp_path):
    """By its family's own check, on a run of the same recipe."""
    recipe = load_recipe(name)
    family = find("families", recipe.family)
    save_tensors(tmp_path / "model.safetensors", {})
    start = Start(tmp_path, recipe, None, {"members": ["ngram", "lstm"]}, (), "0" * 64)
    assert "check_start" in vars(family)
    try:
        family.check_start(recipe, start)
        assert recipe.family != "mixture"
    except (UsageError, OptionError) as error:
        assert "\n" not in str(error)
        assert re.search("always starts from scratch|weights, which are learned from each text anew", str(error))
