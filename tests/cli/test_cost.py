"""`chainrule cost`: what a person and a script get."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import chainrule
from chainrule.cli.app import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def cost(capsys, monkeypatch):
    """`cost("lstm", "--json")` in this process, with a short calibration on one thread."""
    monkeypatch.setattr("chainrule.models.cost.measuring.SECONDS", 0.05)
    before = torch.get_num_threads()
    torch.set_num_threads(1)

    def run(*args, code=0):
        with pytest.raises(SystemExit) as left:
            main(["cost", *map(str, args)])
        out, err = capsys.readouterr()
        assert left.value.code == code, err
        return SimpleNamespace(stdout=out, stderr=err)

    yield run
    torch.set_num_threads(before)


@pytest.fixture
def data(cost):
    def run(*args):
        (line,) = cost(*args, "--json").stdout.splitlines()
        return json.loads(line)
    return run


@pytest.fixture
def small(data):
    return data("transformer", "model.width=16", "model.context=8", "training.batch=2", "training.budget.steps=100",
                "--vocabulary", 300)


def test_widths_are_matched_to_a_number_or_to_another_recipe(cost, data):
    options = ("--vocabulary", 300, "training.budget.steps=10")
    plain = data("transformer", "model.width=32", *options)
    deep = data("transformer", "model.depth=6", "--match-params", "transformer", *options)
    full = data("transformer", *options)
    assert abs(deep["parameters"] - full["parameters"]) < 0.1 * full["parameters"] and "changes" not in plain
    (change,) = deep["changes"]
    assert data("transformer", "model.depth=6", change, *options)["parameters"] == deep["parameters"]
    shown = cost("t5-small", "--match-params", "100k", "--vocabulary", 300).stdout
    assert "to match" in shown and "100k: model.width=" in shown and "model.source.width=" in shown


@pytest.mark.parametrize(("wanted", "words"), [
    ("ngram", "--match-params = ngram: no recipe with a width"), ("2X", "--match-params = '2X', expected a number"),
    ("nothing-like-it", "nothing-like-it")])
def test_what_cannot_be_matched_is_said(cost, wanted, words):
    assert words in cost("transformer", "--match-params", wanted, code=2).stderr


def test_the_parts_and_the_budget_add_up(small):
    assert small["parameters"] == sum(part["parameters"] for part in small["parts"])
    assert small["flops_per_token"]["training"] == sum(part["training"] for part in small["parts"])
    assert (small["vocabulary"], small["context"], small["run"]["tokens"]) == (300, 8, 100 * 2 * 8)
    assert small["run"]["flops"] == 1600 * small["flops_per_token"]["training"]
    assert small["run"]["flops_6nd"] == 6 * 1600 * small["parameters"]
    assert small["run"]["seconds"] == pytest.approx(small["run"]["flops"] / small["speed"]["flops"])
    memory = dict(small["training_bytes"])
    assert memory.pop("total") == sum(memory.values()) and memory["weights"] == 4 * small["parameters"]


def test_the_largest_model_is_costed_in_a_process_of_its_own():
    done = subprocess.run([sys.executable, "-m", "chainrule", "cost", "gpt3-175b"], cwd=ROOT, text=True,
                          capture_output=True, timeout=600)
    shown = done.stdout
    assert "174,604,259,328" in shown and "3,638 petaflop/s-days" in shown and "years" in shown


def test_tokens_take_the_place_of_the_budget(data):
    found = data("lstm-medium", "--tokens", "36270000")
    assert found["run"]["tokens"] == 36_270_000 and found["decoding_bytes"]["per_token"] == 0
    assert "open" not in found and found["vocabulary"] == 10_000


def test_epochs_of_no_text_are_left_open_and_a_guessed_vocabulary_is_reported(cost):
    done = cost("lstm-medium", "model.width=16")
    assert "set them with --tokens" in done.stdout
    assert done.stderr.endswith("how many words there are; 10,000 are assumed. Set --vocabulary.\n")


def test_a_remembered_speed_says_when_it_was_measured_and_can_be_measured_again(cost, data, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    recipe = ["transformer", "model.width=16", "model.context=8", "training.batch=2"]
    assert "; measured now)" in cost(*recipe).stdout
    (note,) = (tmp_path / "chainrule" / "speed").iterdir()
    old = {**json.loads(note.read_text()), "flops": 1.0}
    note.write_text(json.dumps({**old, "when": old["when"] - 1800}))
    assert data(*recipe)["speed"]["flops"] == 1.0
    assert "; measured 30 min ago; --measure measures again)" in cost(*recipe).stdout
    assert data(*recipe, "--measure")["speed"]["flops"] > 1.0 < data(*recipe)["speed"]["flops"]


def test_sizes_are_named_by_what_they_are_divided_by(cost, small):
    shown = cost("transformer", "model.width=16", "model.context=8", "training.batch=2", "--vocabulary", 300).stdout
    weights = small["training_bytes"]["weights"]
    assert f"weights {weights / 1024:.3g} KiB" in shown and "KB" not in shown


def test_a_counting_model_is_explained_in_a_sentence(cost, data):
    done = cost("ngram")
    assert done.stdout.startswith("a model of the family 'ngram' is not trained in steps")
    assert data("ngram")["note"] in done.stdout


def test_a_text_decides_the_vocabulary_and_the_tokens_of_an_epoch(data, tmp_path):
    (tmp_path / "text.txt").write_text("abc\n" * 30)
    small = ["model.width=16", "model.context=8", "training.batch=2", "training.budget.epochs=3",
             "tokenizer=characters"]
    found = data("engine-transformer", *small, "--data", tmp_path / "text.txt")
    peer = data("transformer", *small, "--data", tmp_path / "text.txt")
    assert found["vocabulary"] == peer["vocabulary"] == 7 and found["run"]["tokens"] == 3 * (30 * 4 + 1)
    assert found["parameters"] == peer["parameters"] and found["run"]["flops"] == peer["run"]["flops"]


def test_a_run_folder_stands_for_its_recipe_and_knows_its_vocabulary(data, tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat\n" * 30)
    small = ["tokenizer=words", "model.width=8", "model.context=4", "training.batch=2", "training.budget.steps=2"]
    chainrule.train("engine-mlp", tmp_path / "text.txt", tmp_path / "run", overrides=small)
    found = data(tmp_path / "run")
    assert found["vocabulary"] == chainrule.load(tmp_path / "run").tokenizer.vocabulary_size == 8
    by_hand = data(tmp_path / "run" / "recipe.yaml", "--vocabulary", 8)
    assert {**found, "recipe": ""} == {**by_hand, "recipe": ""}
    assert data(tmp_path / "run", "tokenizer=bytes")["vocabulary"] == 258


def test_an_engine_model_that_does_not_fit_in_memory_is_refused_before_it_is_built(cost):
    done = cost("engine-transformer", "model.width=1000000", code=1)
    assert done.stderr.startswith("chainrule: the model has at least 6,002,048,000,000 parameters, whose weights")


@pytest.mark.parametrize(("option", "words"), [
    (("--vocabulary", "9", "--data", "pydoc"), "--data and --vocabulary both decide the vocabulary."),
    (("--tokens", "0"), "--tokens = 0, expected at least 1."),
    (("--vocabulary", "-1"), "--vocabulary = -1, expected at least 1."),
    (("model.witdh=3",), "Did you mean"),
    (("model.s.heads=5",), "model.s.heads = 5, expected a divisor of width"),
])
def test_a_wrong_option_is_one_line(cost, option, words):
    done = cost("transformer", *option, code=2)
    assert words in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


def test_a_model_without_tokens_has_no_vocabulary_of_0(cost):
    shown = cost("vit").stdout
    assert "\ncontext " in shown and " places at a time" in shown and "vocabulary" not in shown
    assert "e+" not in shown
