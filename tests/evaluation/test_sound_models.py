"""A model is tried before it is saved: a broken one of any family is one line, and no run."""

from dataclasses import replace

import numpy as np
import pytest

from chainrule.errors import ChainruleError
from chainrule.evaluation.sound import unsound
from chainrule.recipe.registry import find
from chainrule.runs import load, save_run
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.verbs.train import train

TEXT = "the cat sat on the mat\nthe dog sat on the cat\na cat and a dog\nthe mat sat\n" * 10
LABELED = "__label__a the cat sat\n__label__b a dog ran off\n" * 10
SMALL = ["model.width=8", "training.budget.steps=2", "tokenizer.name=words"]
RUNS = {
    "ngram": ("ngram", ["model.order=2"]), "lstm": ("lstm", SMALL), "engine": ("engine-lstm", SMALL),
    "bert": ("bert-small", [*SMALL, "model.s.heads=2", "model.pattern=sf"]),
    "vectors": ("skipgram", ["training.epochs=1", "model.dimension=4", "tokenizer.min_count=1"]),
    "classifier": ("text-classifier", ["training.epochs=1", "model.dimension=4", "model.bucket=100"]),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    (folder / "text.txt").write_text(TEXT)
    (folder / "labeled.txt").write_text(LABELED)
    for name, (recipe, how) in RUNS.items():
        train(recipe, folder / ("labeled.txt" if name == "classifier" else "text.txt"), folder / name, overrides=how)
    members = f"model.members=[{folder / 'ngram'},{folder / 'lstm'}]"
    train("mixture", folder / "text.txt", folder / "mixture", overrides=[members, "tokenizer.name=words"])
    return folder


def test_a_tagger_whose_probabilities_are_none_is_found():
    class Broken:
        tags = ("A", "B")

        def tag(self, sentences):
            return [["A"] * len(each) for each in sentences]

        def probabilities(self, sentences):
            return [np.full((len(each), 2), self.p) for each in sentences]

    model = Broken()
    for model.p, expected in ((0.5, None), (np.nan, "the probabilities of tags are not from 0 to 1")):
        assert unsound(model, None, (0.99, 1.01)) == expected


@pytest.mark.parametrize("name", [*RUNS, "mixture"])
def test_a_trained_model_is_sound(made, name):
    run = load(made / name)
    assert unsound(run.model, run.tokenizer, find("families", run.recipe.family).sums) is None


def broken(made, name, tmp_path, value):
    """The same run with one number of each array changed, read as its family reads it."""
    run = load(made / name)
    arrays = {key: np.array(array) for key, array in open_tensors(made / name / "model.safetensors").items()}
    for array in arrays.values():
        if array.dtype.kind == "f":
            array.reshape(-1)[:] = value
    for path in (made / name).iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "model.safetensors").unlink()
    save_tensors(tmp_path / "model.safetensors", arrays)
    family = find("families", run.recipe.family)
    return family.load(tmp_path, run.recipe, run.tokenizer), run


@pytest.mark.parametrize("name", [name for name in RUNS if name != "ngram"])  # whose table has checks of its own
def test_a_model_of_numbers_that_are_none_is_found(made, name, tmp_path):
    model, run = broken(made, name, tmp_path, np.nan)
    assert unsound(model, run.tokenizer, (0.99, 1.01)), name


def test_probabilities_that_do_not_sum_to_one_are_found(made):
    run = load(made / "ngram")
    levels = [replace(level, log_probs=level.log_probs - 1) for level in run.model.table.levels]
    model = type(run.model)(replace(run.model.table, levels=levels))
    assert "the probabilities after '<s>' sum to 0." in unsound(model, run.tokenizer, (0.99, 1.01))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", RUNS)
def test_no_run_with_numbers_that_are_not_finite_is_sealed(made, name, tmp_path, value):
    run = load(made / name)
    arrays = {key: np.array(array) for key, array in open_tensors(made / name / "model.safetensors").items()}
    last = [key for key, array in arrays.items() if array.dtype.kind == "f"][-1]
    arrays[last].reshape(-1)[-1] = value
    with pytest.raises(ChainruleError, match=f"run: the array '{last}' has numbers that are not finite, so nothing"):
        save_run(tmp_path / "run", lambda folder: save_tensors(folder / "model.safetensors", arrays),
                 recipe=run.recipe, tokenizer=run.tokenizer, report=run.report)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("recipe", ["lstm", "engine-lstm"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_training_that_diverges_ends_with_advice_and_keeps_what_was_good(made, tmp_path, recipe):
    how = ["model.width=8", "tokenizer.name=words", "training.batch=4", "training.evaluate_every=1",
           "training.budget.steps=2", "training.schedule=constant", "training.optimizer.name=sgd"]
    with pytest.raises(ChainruleError, match=r"training diverged: the weights are not finite after step 1\. "
                                             r"No run was saved; checkpoints .* Try a lower training\.optimizer\.rate"):
        train(recipe, made / "text.txt", tmp_path / "run", overrides=[*how, "training.optimizer.rate=1e39"])
    assert not (tmp_path / "run").exists() and not list((tmp_path / ".run.training").glob("step-*"))
