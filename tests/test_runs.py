"""A run that was saved loads as the same recipe, tokenizer, model and report."""

import json
from dataclasses import replace

import numpy as np
import pytest
from plugins import family

from chainrule.errors import StorageError
from chainrule.protocols import LanguageModel
from chainrule.recipe.recipe import make_recipe
from chainrule.recipe.registry import build, find
from chainrule.runs import load, save_run
from chainrule.text.corpora import open_corpus

FILES = ["MANIFEST.json", "README.md", "environment.json", "metrics.jsonl", "model.safetensors", "recipe.yaml",
         "report.json", "tokenizer.json"]


@pytest.fixture
def saved(tmp_path):
    (tmp_path / "text.txt").write_text("the cows eat grass\nthe cows eat hay\n", encoding="utf-8")
    (tmp_path / "families").mkdir()
    with family(tmp_path / "families"):
        recipe = make_recipe({"family": "unigrams", "tokenizer": "words"})
        tokenizer = build("text/tokenizers", recipe.tokenizer).train(
            open_corpus(tmp_path / "text.txt", recipe.text), recipe.text)
        counts = np.arange(1.0, tokenizer.vocabulary_size + 1)
        save_run(tmp_path / "run", lambda folder: find("families", "unigrams").save(folder, counts), recipe=recipe,
                 tokenizer=tokenizer, report={"perplexity": np.float64(3.5), "worst": float("inf")},
                 metrics=[{"step": 1, "loss": np.float32(0.5)}, {"step": 2, "loss": float("nan")}])
        yield tmp_path / "run", recipe, tokenizer, counts


def test_a_run_has_all_its_files(saved):
    assert sorted(path.name for path in saved[0].iterdir()) == FILES


def test_a_run_loads_as_it_was_saved(saved):
    path, recipe, tokenizer, counts = saved
    run = load(path)
    assert run.recipe == recipe and run.path == path
    assert run.tokenizer.encode("cows eat hay").tolist() == tokenizer.encode("cows eat hay").tolist()
    assert isinstance(run.model, LanguageModel)
    np.testing.assert_allclose(np.exp(run.model.log_probs(run.model.start(2))), [counts / counts.sum()] * 2)


def test_a_run_is_shown_in_one_line(saved):
    path, _, tokenizer, _ = saved
    said = f"family unigrams, task language, {{}}tokenizer words ({tokenizer.vocabulary_size} tokens)"
    run = load(path)
    assert repr(run) == f"LoadedRun('{path}': {said.format('')})"
    larger = replace(run, report={"parameters": 12345, "order": 3, "ngrams": [1, 2]})
    assert repr(larger) == f"LoadedRun('{path}': {said.format('order 3, parameters 12,345, ')})"


def test_numbers_that_json_lacks_are_written_as_null(saved):
    assert load(saved[0]).report == {"perplexity": 3.5, "worst": None}
    rows = [json.loads(line) for line in (saved[0] / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == [{"step": 1, "loss": 0.5}, {"step": 2, "loss": None}]


def test_a_damaged_run_is_not_loaded(saved):
    with (saved[0] / "tokenizer.json").open("r+b") as file:
        file.write(b" ")
    with pytest.raises(StorageError, match="tokenizer.json: SHA-256 differs"):
        load(saved[0])
