"""`chainrule.save`: a model that was changed or made in Python is a run like any other, or nothing is written."""

import filecmp
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import chainrule
from chainrule.counting.count import count
from chainrule.counting.estimate import Marks, estimate
from chainrule.counting.model import NGram
from chainrule.counting.scratch import Scratch
from chainrule.errors import ChainruleError, StorageError, UsageError
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import build, names
from chainrule.storage.manifest import NAME, hashed
from chainrule.storage.run_folder import verify_run

NEURAL = ["model.width=8", "model.context=9", "tokenizer=characters", "training.budget.steps=3", "training.batch=2"]
RUNS = {"neural": ("lstm", NEURAL), "masked": ("bert-small", [*NEURAL, "model.pattern=sf"]),
        "engine": ("engine-transformer", [*NEURAL, "model.pattern=sf"]),
        "ngram": ("ngram", ["model.order=3", "model.keep_counts=true"]),
        "compact": ("ngram", ["model.order=2", "model.compact=true"]),
        "vectors": ("fasttext", ["model.dimension=4", "tokenizer.min_count=1", "training.threads=1"]),
        "text_classifier": ("text-classifier", ["model.dimension=4", "training.threads=1", "model.word_ngrams=2"]),
        "hidden_markov": ("hmm-tagger", [])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, kinds_folder):
    where = tmp_path_factory.mktemp("saving")
    (where / "text.txt").write_text("the cow eats hay\na hen sleeps here\n" * 20)
    (where / "tagged.tsv").write_text("the\tDET\ncow\tNOUN\n\n" * 5)
    for name, (recipe, how) in RUNS.items():
        data = {"text_classifier": kinds_folder / "train.txt", "hidden_markov": where / "tagged.tsv"}.get(
            name, where / "text.txt")
        chainrule.train(recipe, data, where / name, overrides=how)
    members = f"model.members=[{where / 'ngram'},{where / 'ngram'}]"
    chainrule.train("mixture", where / "text.txt", where / "mixture", overrides=[members])
    (where / "valid.txt").write_text("the hen eats hay\n")
    chainrule.train(where / "compact", where / "text.txt", where / "mixed", valid=where / "valid.txt")
    return where


@pytest.mark.parametrize("name", [*RUNS, "mixture", "mixed"])
def test_a_run_that_is_saved_again_is_the_same_model(name, folder, tmp_path):
    run = chainrule.load(folder / name)
    assert chainrule.save(run, tmp_path / "again", report={"note": "mine"}) == tmp_path / "again"
    again, problems = verify_run(tmp_path / "again")
    assert not problems
    own = "known.json" if run.tokenizer is None else "tokenizer.json"
    for file in ("recipe.yaml", own, "model.safetensors"):
        assert filecmp.cmp(folder / name / file, again.file(file), shallow=False), file
    extra = {"metrics.jsonl", "report.json", "environment.json", "README.md", "timings.jsonl"}
    before = {each for each in verify_run(folder / name)[0].files if not each.startswith("tensorboard/")}
    assert set(again.files) - extra == before - extra
    report = json.loads((tmp_path / "again" / "report.json").read_text())
    assert report["note"] == "mine" and report["saved_from"] == {
        "run": str(folder / name), "sha256": hashed(folder / name / NAME).sha256}
    assert "valid" not in report and "seconds" not in report
    assert "which no recipe describes" in (tmp_path / "again" / "README.md").read_text()


def test_every_family_can_be_saved():
    assert {load_recipe(recipe).family for recipe, _ in RUNS.values()} | {"mixture"} == set(names("families"))


def test_weights_changed_in_torch_are_saved_and_go_on(folder, tmp_path):
    run = chainrule.load(folder / "neural")
    ids = torch.tensor([[3, 4, 5, 6, 7]], device=run.model.stack.device)
    optimizer = torch.optim.SGD(run.model.parameters(), lr=0.02)
    for _ in range(5):
        optimizer.zero_grad()
        run.model.stack.head.loss(run.model.stack(ids[:, :-1])[0], ids[:, 1:]).backward()
        optimizer.step()
    changed = run.model.score(ids).cpu()
    chainrule.save(run, tmp_path / "tuned")
    before, after = (chainrule.load(each).model.score(ids).cpu() for each in (folder / "neural", tmp_path / "tuned"))
    torch.testing.assert_close(after, changed)
    assert after.sum() > before.sum()
    report = chainrule.train(tmp_path / "tuned", folder / "text.txt", tmp_path / "next")
    assert report["start_from"]["run"] == str(tmp_path / "tuned")


def test_weights_changed_on_the_engine_are_saved(folder, tmp_path):
    run = chainrule.load(folder / "engine")
    for parameter in run.model.stack.named_parameters().values():
        parameter.value = parameter.value * 0.5
    chainrule.save(run, tmp_path / "half")
    ids = run.tokenizer.encode("the cow")[None]
    half = chainrule.load(tmp_path / "half").model.score(ids)
    np.testing.assert_array_equal(half, run.model.score(ids))
    assert not np.allclose(half, chainrule.load(folder / "engine").model.score(ids))


def test_counts_are_kept_only_with_their_own_model(folder, tmp_path):
    run = chainrule.load(folder / "ngram")
    chainrule.train(folder / "ngram" / "recipe.yaml", folder / "text.txt", tmp_path / "smooth",
                    overrides=["model.smoothing=witten_bell"])
    chainrule.save(run, tmp_path / "same")
    assert (tmp_path / "same" / "counts" / "counts.safetensors").is_file()
    chainrule.save(replace(run, model=chainrule.load(tmp_path / "smooth").model), tmp_path / "other")
    assert not (tmp_path / "other" / "counts").exists()


def test_vectors_that_were_changed_lose_what_only_training_needs(folder, tmp_path):
    run = chainrule.load(folder / "vectors")
    run.model.table = np.asarray(run.model.table) * 2
    chainrule.save(run, tmp_path / "twice")
    twice = chainrule.load(tmp_path / "twice").model
    np.testing.assert_array_equal(twice.vector("cow"), 2 * chainrule.load(folder / "vectors").model.vector("cow"))
    with pytest.raises(UsageError, match="twice: its vectors were changed and saved without the rows"):
        chainrule.train(tmp_path / "twice", folder / "text.txt", tmp_path / "next")


def test_a_model_of_ones_own_becomes_a_run(folder, tmp_path):
    tokenizer = chainrule.load(folder / "ngram").tokenizer
    ids = tokenizer.encode_lines(["the hen eats hay", "a cow sleeps"])
    counts = count(ids, 2, tokenizer.vocabulary_size, start=tokenizer.start, end=tokenizer.end)
    marks = Marks(tokenizer.start, tokenizer.end, tokenizer.unknown, predicts_unknown=True)
    table = estimate(counts, build("counting/smoothing", {"name": "witten_bell"}), marks, prune=[0], scratch=Scratch(),
                     say=print)
    recipe = load_recipe("ngram", ["model.order=2", "model.smoothing=witten_bell"])
    chainrule.save(chainrule.LoadedRun(Path(), recipe, tokenizer, NGram(table), {"order": 2}), tmp_path / "mine")
    assert chainrule.score(tmp_path / "mine", ["the hen eats hay"])[0] == pytest.approx(
        NGram(table).score(ids[None, :5]).sum())
    assert "saved_from" not in json.loads((tmp_path / "mine" / "report.json").read_text())


def nothing(path):
    return not path.exists() and not list(path.parent.glob(".*"))


def test_what_is_there_is_replaced_only_if_asked(folder, tmp_path):
    run = chainrule.load(folder / "ngram")
    chainrule.save(run, tmp_path / "run")
    with pytest.raises(StorageError, match="there is a run already"):
        chainrule.save(run, tmp_path / "run")
    chainrule.save(run, tmp_path / "run", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="not a run folder, so it is left alone"):
        chainrule.save(run, tmp_path / "mine", force=True)


def no_numbers(run):
    for parameter in run.model.parameters():
        parameter.data.fill_(float("nan"))
    return run


def endless(run):
    parameter = run.model.stack.parameters()[0]
    parameter.value = parameter.value * np.inf
    return run


def with_table(change):
    def spoil(run):
        run.model.table = change(np.asarray(run.model.table))
        return run
    return spoil


def too_likely(run):
    table = run.model.table
    levels = [replace(level, log_probs=np.asarray(level.log_probs) + np.float32(0.5)) for level in table.levels]
    return replace(run, model=NGram(replace(table, levels=levels)))


@pytest.mark.parametrize(("name", "spoil", "said"), [
    ("neural", no_numbers, "are not finite numbers"), ("engine", endless, "are not finite numbers"),
    ("vectors", with_table(lambda table: table * np.nan), "are not finite numbers"),
    ("vectors", with_table(lambda table: table[1:]), "is not the model of the run's recipe"),
    ("ngram", too_likely, "sum to|not a number from 0 to 1")])
def test_a_broken_model_is_refused_and_nothing_is_written(name, spoil, said, folder, tmp_path):
    with pytest.raises(ChainruleError, match=said):
        chainrule.save(spoil(chainrule.load(folder / name)), tmp_path / "run")
    assert nothing(tmp_path / "run")


def test_a_model_that_does_not_fit_its_recipe_is_refused(folder, tmp_path):
    neural, ngram = chainrule.load(folder / "neural"), chainrule.load(folder / "ngram")
    wider = load_recipe(folder / "neural", ["model.width=12"])
    for wrong, said in ((replace(neural, recipe=wider), "is not the model of the run's recipe"),
                        (replace(neural, model=ngram.model), "NGram is not the model of the run's recipe"),
                        (replace(ngram, tokenizer=neural.tokenizer), "is not the model"),
                        (chainrule.load(folder / "neural", to_write=True), "opened to write only"),
                        (ngram.model, r"save\(run = NGram\), expected what chainrule.load gives")):
        with pytest.raises(ChainruleError, match=said):
            chainrule.save(wrong, tmp_path / "run")
        assert nothing(tmp_path / "run")
