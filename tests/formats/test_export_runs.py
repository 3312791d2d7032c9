"""`chainrule export --to neural` and `--to engine`: the same model on the other side, both ways, or one clear line."""

import json

import numpy as np
import pytest

from chainrule.cli.app import main
from chainrule.runs import load
from chainrule.verbs.train import train

torch = pytest.importorskip("torch")
TEXT = "".join(f"the cows eat grass, {n * n % 17} of them; the dogs eat meat\n" for n in range(40))
SMALL = ["tokenizer=characters", "model.width=16", "model.context=12", "training.budget.steps=8", "training.batch=4",
         "training.log_every=2", "training.evaluate_every=8", "training.keep=0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    (folder / "text.txt").write_text(TEXT)
    return folder


@pytest.fixture
def export(folder, capsys, monkeypatch):
    """export(words…): what the command prints."""
    monkeypatch.chdir(folder)

    def run(*words, code=0):
        capsys.readouterr()  # what training said
        with pytest.raises(SystemExit) as ended:
            main(["export", *words])
        assert (ended.value.code or 0) == code
        return capsys.readouterr()
    return run


def trained(folder, recipe, *changes):
    name = f"{recipe}-{len(changes)}"
    if not (folder / name).exists():
        train(recipe, folder / "text.txt", folder / name, overrides=[*SMALL, *changes])
    return name


def log_probs(folder, name):
    run = load(folder / name)
    ids = np.array([run.tokenizer.encode("the cows eat meat; the dogs, 13 of them")])
    found = run.model.score(ids if run.recipe.family == "engine" else torch.from_numpy(ids))
    return np.asarray(found)


@pytest.mark.parametrize("recipe", ["engine-transformer", "engine-lstm", "engine-nnlm"])
def test_an_engine_run_can_be_exported_to_torch_and_back(recipe, folder, export):
    name = trained(folder, recipe)
    found = json.loads(export(name, "--to", "neural", f"{name}-torch", "--json").out)
    assert found["family"] == "neural" and found["left_out"] == [] and found["bytes"] > 10_000
    export(f"{name}-torch", "--to", "engine", f"{name}-back")
    there, back = load(folder / f"{name}-torch"), load(folder / f"{name}-back")
    assert there.recipe.family == "neural" and there.report["trained_in"] == "engine"
    first = load(folder / name).recipe
    assert back.recipe.training == first.training and back.recipe.tokenizer == first.tokenizer
    before = log_probs(folder, name)
    np.testing.assert_allclose(log_probs(folder, f"{name}-torch"), before, atol=1e-5)
    np.testing.assert_allclose(log_probs(folder, f"{name}-back"), before, atol=1e-5)
    rows = [(folder / each / "metrics.jsonl").read_text() for each in (name, f"{name}-torch")]
    assert rows[0] == rows[1] and rows[0].count("\n") >= 4


@pytest.mark.parametrize("recipe", ["transformer", "rnn", "nnlm"])
def test_a_torch_run_can_be_exported_to_the_engine(recipe, folder, export):
    name = trained(folder, recipe)
    said = export(name, "--to", "engine", f"{name}-engine")
    assert ("training.optimizer=muon: training it again would give different results. The exported model is the same."
            in said.err)
    np.testing.assert_allclose(log_probs(folder, f"{name}-engine"), log_probs(folder, name), atol=1e-5)


def losses(folder, name):
    rows = map(json.loads, (folder / name / "metrics.jsonl").read_text().splitlines())
    return [row["loss"] for row in rows if "loss" in row]


def test_the_recipe_of_the_exported_run_makes_it_again(folder, export):
    name = trained(folder, "engine-transformer", "model.dropout.rate=0", "training.precision=float64")
    export(name, "--to", "neural", "twin")
    train(folder / "twin" / "recipe.yaml", folder / "text.txt", folder / "again")
    assert len(losses(folder, name)) == 4
    np.testing.assert_allclose(losses(folder, "again"), losses(folder, name), atol=1e-6)
    np.testing.assert_allclose(log_probs(folder, "again"), log_probs(folder, name), atol=1e-5)


@pytest.mark.slow
def test_a_hundred_steps_of_the_shipped_recipe_are_those_of_torch(folder, export):
    train("engine-transformer", "pydoc", folder / "et", overrides=[
        "model.dropout.rate=0", "training.precision=float64", "training.budget.steps=100", "training.log_every=1"])
    export("et", "--to", "neural", "nt")
    train(folder / "nt" / "recipe.yaml", "pydoc", folder / "tt")
    assert len(losses(folder, "et")) == 100
    np.testing.assert_allclose(losses(folder, "tt"), losses(folder, "et"), atol=1e-4)


@pytest.mark.parametrize(("recipe", "changes", "to", "said"), [
    ("engine-rnn", [], "engine", "of the family engine, expected neural"),
    ("transformer", [], "neural", "of the family neural, expected engine"),
    ("transformer", ["model.f=geglu"], "engine", "model.f = 'geglu', expected mlp or swiglu. The engine has no other"),
    ("gated-conv", [], "engine", "model.c = 'gated_convolution', expected attention or elman or gru"),
])
def test_parts_without_a_counterpart_are_refused_and_nothing_is_written(recipe, changes, to, said, folder, export):
    name = trained(folder, recipe, *changes)
    shown = export(name, "--to", to, "nothing", code=2).err
    assert said in shown and shown.count("\n") == 1
    assert not (folder / "nothing").exists()


def test_an_existing_run_is_replaced_only_with_force(folder, export):
    name = trained(folder, "engine-rnn")
    export(name, "--to", "neural", "kept")
    assert "kept: exists already" in export(name, "--to", "neural", "kept", code=1).err
    export(name, "--to", "neural", "kept", "--force")
    (folder / "precious").mkdir()
    (folder / "precious" / "letter.txt").write_text("dear")
    assert "precious" in export(name, "--to", "neural", "precious", "--force", code=1).err
    assert (folder / "precious" / "letter.txt").read_text() == "dear"


def test_runs_are_not_imported_as_files(folder, export, capsys):
    with pytest.raises(SystemExit):
        main(["import", "text.txt", "--from", "engine", "--out", "x"])
    said = capsys.readouterr().err
    assert "--from = 'engine', expected arpa, fasttext" in said and "chainrule export RUN --to engine x." in said
