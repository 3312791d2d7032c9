"""Training that goes on from a finished run, in every family: what is kept, what is added, what is exactly equal."""

import filecmp
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import chainrule
from chainrule.errors import OptionError, UsageError
from chainrule.storage.tensors import open_tensors

ROOT = Path(__file__).parents[2]
SMALL = ["model.width=8", "model.context=300", "tokenizer=characters", "training.batch=1"]
ONE_WINDOW = "model.context=150"  # holds the validation text; torch counts the cost of each of its steps
STEPS = ["training.budget.steps=6", "training.evaluate_every=3", "training.threads=1"]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    words = {"first": ("cow", "hay"), "more": ("hen", "corn"), "valid": ("hen", "hay")}
    for name, (beast, food) in words.items():
        lines = [f"the {beast} eats {food}", f"a {beast} sleeps and the {beast} wakes", "grass grows <unk> here"]
        (folder / f"{name}.txt").write_text("\n".join(lines * (2 if name == "valid" else 9)) + "\n")
    return folder


def rows(run, key="valid_loss"):
    found = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [row for row in found if key in row]


@pytest.mark.parametrize("recipe", ["lstm", "transformer", "engine-lstm", "engine-transformer", "bert-small"])
def test_validation_before_the_first_step_is_that_of_the_run(recipe, texts, tmp_path):
    """To the digit what the run's own training measured last; `evaluate` only adds that <s> cannot follow."""
    how = [*SMALL, *STEPS[:2], "model.pattern=r" if "lstm" in recipe else "model.pattern=sf",
           *([ONE_WINDOW] if recipe == "lstm" else [])]
    chainrule.train(recipe, texts / "first.txt", tmp_path / "run", overrides=how, valid=texts / "valid.txt")
    chainrule.train(tmp_path / "run", texts / "more.txt", tmp_path / "next", valid=texts / "valid.txt")
    first, last = rows(tmp_path / "next")[0], rows(tmp_path / "run")[-1]
    assert first["step"] == 0 and last["step"] == 6 and [row["step"] for row in rows(tmp_path / "next")] == [0, 3, 6]
    if recipe != "bert-small":  # its masks are those of the evaluation's number
        assert first["valid_loss"] == last["valid_loss"]
        found = chainrule.evaluate(tmp_path / "run", texts / "valid.txt", bootstrap=0)
        assert first["valid_loss"] - 0.06 < math.log(found["perplexity"]) <= first["valid_loss"]
    assert filecmp.cmp(tmp_path / "run" / "tokenizer.json", tmp_path / "next" / "tokenizer.json", shallow=False)
    before, after = (open_tensors(tmp_path / name / "model.safetensors") for name in ("run", "next"))
    assert any(not np.array_equal(before[name], after[name]) for name in before)


def test_with_patience_a_training_that_only_harms_keeps_the_run(texts, tmp_path):
    chainrule.train("engine-lstm", texts / "first.txt", tmp_path / "run", overrides=[*SMALL, "training.budget.steps=9"],
                    valid=texts / "first.txt")
    (tmp_path / "noise.txt").write_text("xqzjvkw" * 60 + "\n")
    report = chainrule.train(tmp_path / "run", tmp_path / "noise.txt", tmp_path / "next", valid=texts / "first.txt",
                             overrides=["training.patience=2", "training.evaluate_every=2", "training.budget.steps=20",
                                        "training.optimizer.rate=0.3", "training.schedule=constant"])
    assert report["kept"] == 0 and report["steps"] == 4
    assert filecmp.cmp(tmp_path / "run" / "model.safetensors", tmp_path / "next" / "model.safetensors", shallow=False)


def test_the_context_may_grow_unless_positions_are_learned(texts, tmp_path):
    chainrule.train("transformer", texts / "first.txt", tmp_path / "run",
                    overrides=[*SMALL, *STEPS[:2], "model.pattern=sf", "model.context=16", "model.s.heads=2"])
    longer = ["model.context=32", "model.dropout.rate=0.2"]
    chainrule.train(tmp_path / "run", texts / "more.txt", tmp_path / "next", overrides=longer)
    assert chainrule.load(tmp_path / "next").recipe.model.context == 32
    with pytest.raises(OptionError, match=r"model\.s\.heads = 3, expected 2, as in"):  # the same weights, another model
        chainrule.train(tmp_path / "run", texts / "more.txt", tmp_path / "no", overrides=["model.s.heads=3"])
    chainrule.train(tmp_path / "run" / "recipe.yaml", texts / "first.txt", tmp_path / "fixed",
                    overrides=["model.position=learned"])
    with pytest.raises(OptionError, match=r"model\.context = 32, expected 16 as in \S+fixed, where training starts"):
        chainrule.train(tmp_path / "fixed", texts / "more.txt", tmp_path / "no", overrides=longer)
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("recipe", ["lstm", "engine-lstm"])
def test_killed_and_resumed_it_ends_as_in_one_go(recipe, texts, tmp_path):
    """By kill -9 after its first checkpoint, in a process of its own."""
    small = [*SMALL, "model.pattern=r", *([ONE_WINDOW] if recipe == "lstm" else [])]
    chainrule.train(recipe, texts / "first.txt", tmp_path / "run", overrides=[*small, *STEPS[:2]])
    changes = ["training.budget.steps=20", "training.save_every=0.001", "training.evaluate_every=5"]
    words = ["train", recipe, "--from", "run", "--data", texts / "more.txt", "--valid", texts / "valid.txt",
             *small, *changes]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}

    def command(out):
        return [sys.executable, "-m", "chainrule", *map(str, words), "--out", out]

    process = subprocess.Popen(command("cut"), cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    while process.poll() is None and not list(tmp_path.glob(".cut.training/step-*/MANIFEST.json")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=600)
    killed = process.returncode == -signal.SIGKILL
    done = subprocess.run(command("cut" if killed else "again"), cwd=tmp_path, env=environment, capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert not killed or "resuming at step" in done.stderr
    subprocess.run(command("whole"), cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=600)
    for name in ("model.safetensors", "metrics.jsonl", "recipe.yaml"):
        assert filecmp.cmp(tmp_path / "cut" / name, tmp_path / "whole" / name, shallow=False), name


def test_an_unfinished_training_is_not_resumed_from_another_run(texts, tmp_path):
    for seed in (0, 1):
        chainrule.train("engine-lstm", texts / "first.txt", tmp_path / f"run{seed}",
                        overrides=[*SMALL, *STEPS[:2], f"seed={seed}"])

    class Cut(Exception):
        """Stops a training after its third step."""

    def show(facts):
        if facts["step"] == 3:
            raise Cut

    with pytest.raises(Cut):
        chainrule.train(tmp_path / "run0", texts / "more.txt", tmp_path / "next", show=show,
                        overrides=["training.save_every=0", "seed=0"])
    with pytest.raises(UsageError, match=r"start_from\.sha256: \w+ → \w+"):
        chainrule.train(tmp_path / "run1", texts / "more.txt", tmp_path / "next", overrides=["seed=0"])


@pytest.mark.parametrize("options", [
    ["tokenizer.name=words"], ["tokenizer.name=words", "tokenizer.min_count=10"], ["tokenizer.name=plain_words"],
    ["tokenizer.name=words", "tokenizer.size=9"], ["tokenizer.name=characters"], ["tokenizer.name=bytes"],
    ["tokenizer.name=words", "model.smoothing=witten_bell", "model.prune=[0,1]", "model.compact=true"]], ids=" ".join)
def test_by_counts_it_is_the_model_of_both_texts(options, texts, tmp_path, caplog):
    """Byte for byte, also where words were too rare in each of the texts and are frequent enough in both."""
    options = ["model.order=3", "text.unit=line", "model.keep_counts=true", *options]
    whole = texts / "first.txt", texts / "more.txt"
    chainrule.train("ngram", list(map(str, whole)), tmp_path / "whole", overrides=options)
    chainrule.train("ngram", whole[0], tmp_path / "run", overrides=options)
    with caplog.at_level("INFO", "chainrule"):
        report = chainrule.train(tmp_path / "run", whole[1], tmp_path / "next")
    assert "going on by counts" in caplog.text and report["continued_by"] == "counts"
    for name in ("model.safetensors", "tokenizer.json", "counts/counts.safetensors", "counts/tokenizer.json"):
        assert filecmp.cmp(tmp_path / "whole" / name, tmp_path / "next" / name, shallow=False), name
    told = json.loads((tmp_path / "whole" / "report.json").read_text())
    assert {key: report[key] for key in ("tokens", "units", "bytes", "ngrams", "vocabulary")} == {
        key: told[key] for key in ("tokens", "units", "bytes", "ngrams", "vocabulary")}


@pytest.mark.parametrize("options", [["tokenizer.name=words", "tokenizer.min_count=10"], ["tokenizer.name=bytes"]])
def test_keeping_counts_changes_nothing_else(options, texts, tmp_path):
    for name, more in (("plain", []), ("keeps", ["model.keep_counts=true"])):
        chainrule.train("ngram", texts / "first.txt", tmp_path / name, overrides=["model.order=3", *options, *more])
    for name in ("model.safetensors", "tokenizer.json"):
        assert filecmp.cmp(tmp_path / "plain" / name, tmp_path / "keeps" / name, shallow=False), name
    assert not (tmp_path / "plain" / "counts").exists()


def test_by_counts_a_learned_tokenizer_is_kept(texts, tmp_path):
    options = ["model.order=3", "model.keep_counts=true", "tokenizer=byte_pair", "tokenizer.size=280", "text.unit=line"]
    chainrule.train("ngram", texts / "first.txt", tmp_path / "run", overrides=options)
    chainrule.train(tmp_path / "run", texts / "more.txt", tmp_path / "next")
    assert filecmp.cmp(tmp_path / "run/tokenizer.json", tmp_path / "next/tokenizer.json", shallow=False)
    for name in ("first", "more"):
        chainrule.count(str(texts / f"{name}.txt"), tmp_path / name, overrides=options,
                        tokenizer=tmp_path / "run" / "tokenizer.json")
    chainrule.merge([tmp_path / "first", tmp_path / "more"], tmp_path / "merged")
    assert filecmp.cmp(tmp_path / "merged/model.safetensors", tmp_path / "next/model.safetensors", shallow=False)


def test_without_counts_it_is_a_mixture_weighed_on_the_validation_text(texts, tmp_path, caplog):
    chainrule.train("ngram", texts / "first.txt", tmp_path / "run", overrides=["model.order=2"])
    with pytest.raises(UsageError, match="keeps no counts .* give --valid FILE"):
        chainrule.train(tmp_path / "run", texts / "more.txt", tmp_path / "next")
    with caplog.at_level("INFO", "chainrule"):
        report = chainrule.train(tmp_path / "run", texts / "more.txt", tmp_path / "next", valid=texts / "valid.txt")
    assert "going on by mixture" in caplog.text and report["continued_by"] == "mixture"
    old, new = (chainrule.load(path) for path in (tmp_path / "run", tmp_path / "next"))
    weights = new.model.weights
    assert sum(weights) == pytest.approx(1) and 0.01 < weights[0] < 0.99
    assert filecmp.cmp(tmp_path / "run/tokenizer.json", tmp_path / "next/tokenizer.json", shallow=False)
    ids = old.tokenizer.encode_lines(["the cow eats hay"])[None]
    second = chainrule.load(tmp_path / "next" / "members" / "1").model
    expected = weights[0] * np.exp(old.model.score(ids)) + weights[1] * np.exp(second.score(ids))
    np.testing.assert_allclose(np.exp(new.model.score(ids)), expected, rtol=1e-5)
    loss = {name: chainrule.evaluate(path, texts / "valid.txt", bootstrap=0)["nll"] for name, path in (
        ("old", tmp_path / "run"), ("mixed", tmp_path / "next"), ("new", tmp_path / "next" / "members" / "1"))}
    assert loss["mixed"] < min(loss["old"], loss["new"])
    chainrule.train(tmp_path / "next", texts / "first.txt", tmp_path / "third", valid=texts / "valid.txt")
    assert chainrule.load(tmp_path / "third").model.vocabulary_size == old.tokenizer.vocabulary_size
    with pytest.raises(UsageError, match="a mixture of n-gram models, expected one"):
        chainrule.export(tmp_path / "next", "arpa", tmp_path / "x.arpa")


@pytest.mark.parametrize(("start", "change", "said"), [
    ("keeps", "model.order=3", r"model\.order = 3, expected 2, the order of the counts in"),
    ("plain", "model.keep_counts=true", r"model\.keep_counts = True, expected false, since \S+ keeps no counts"),
    ("plain", "tokenizer.min_count=2", r"tokenizer = .*'min_count': 2.*, expected .*'min_count': 1"),
])
def test_options_that_do_not_fit_an_ngram_run(start, change, said, texts, tmp_path):
    keeps = f"model.keep_counts={'true' if start == 'keeps' else 'false'}"
    chainrule.train("ngram", texts / "first.txt", tmp_path / start, overrides=["model.order=2", keeps])
    with pytest.raises(OptionError, match=said):
        chainrule.train(tmp_path / start, texts / "more.txt", tmp_path / "next", overrides=[change, "split.valid=0.1"])
    assert not (tmp_path / "next").exists()


def labeled(path, rows):
    path.write_text("".join(f"__label__{label} {text}\n" for label, text in rows * 10))
    return path


CLASSIFIER = ["model.dimension=5", "training.threads=1", "training.lr=0.5", "model.word_ngrams=2", "model.min_n=2",
              "model.max_n=3", "model.bucket=200", "tokenizer.min_count=2"]
NO_CHANGE = "training.lr=1e-30"


@pytest.mark.parametrize("loss", ["softmax", "hierarchical_softmax", "one_vs_all", "negative_sampling"])
def test_a_classifier_keeps_what_it_knows(loss, tmp_path):
    """With a learning rate that changes nothing, texts in known words get the very same probabilities."""
    first = labeled(tmp_path / "first.txt", [("beast", "the cow eats"), ("tool", "the saw cuts wood"), ("food", "hay")])
    more = labeled(tmp_path / "more.txt", [("tool", "the axe cuts trees"), ("beast", "the hen eats corn")])
    more.write_text(more.read_text() + "__label__tool the saw rusts\n")  # known and new words that occur once
    chainrule.train("text-classifier", first, tmp_path / "run", overrides=[*CLASSIFIER, f"model.loss={loss}"])
    chainrule.train(tmp_path / "run", more, tmp_path / "same", overrides=[NO_CHANGE])
    chainrule.train(tmp_path / "run", more, tmp_path / "next")
    run, same, after = (chainrule.load(tmp_path / name).model for name in ("run", "same", "next"))
    assert set(run.features.words) < set(same.features.words) and b"hen" in same.features.words
    assert b"rusts" not in same.features.words and same.labels == run.labels
    texts = ["the cow eats", "hay", "cuts wood the saw"]
    for model, small in ((run, same),):
        old, new = (np.asarray(each.inputs)[[each.features.row_of[word] for word in model.features.words]]
                    for each in (model, small))
        np.testing.assert_array_equal(old, new)
        np.testing.assert_array_equal(np.asarray(model.outputs), np.asarray(small.outputs)[: len(model.outputs)])
        np.testing.assert_array_equal(*(np.asarray(each.inputs)[each.features.row_of_bucket[model.features.used]]
                                        for each in (model, small)))
    np.testing.assert_allclose(same.probabilities(texts[:1]), run.probabilities(texts[:1]), atol=0.05)
    assert not np.allclose(after.probabilities(texts), run.probabilities(texts))


def test_rare_words_that_a_classifier_knows_are_trained(tmp_path):
    first = labeled(tmp_path / "first.txt", [("a", "cow"), ("b", "saw")])
    chainrule.train("text-classifier", first, tmp_path / "run", overrides=["model.dimension=4", "training.threads=1"])
    (tmp_path / "more.txt").write_text("__label__a saw\n")
    chainrule.train(tmp_path / "run", tmp_path / "more.txt", tmp_path / "next",
                    overrides=["tokenizer.min_count=5", "training.epochs=50"])
    run, after = (chainrule.load(tmp_path / name).model for name in ("run", "next"))
    assert sorted(after.features.words) == sorted(run.features.words)
    place = list(run.labels).index("a")
    assert after.probabilities(["saw"])[0, place] > run.probabilities(["saw"])[0, place] + 0.1


def test_new_labels_of_a_classifier_come_behind_the_old(tmp_path):
    first = labeled(tmp_path / "first.txt", [("beast", "the cow eats"), ("tool", "the saw cuts wood")])
    more = labeled(tmp_path / "more.txt", [("food", "hay and corn"), ("tool", "axe")])
    for loss in ("softmax", "hierarchical_softmax"):
        chainrule.train("text-classifier", first, tmp_path / loss, overrides=[*CLASSIFIER, f"model.loss={loss}"])
    report = chainrule.train(tmp_path / "softmax", more, tmp_path / "next", overrides=["training.epochs=30"])
    assert report["labels"] == 3
    known = json.loads((tmp_path / "next" / "labels.json").read_text())
    assert [(each["label"], each["count"]) for each in known] == [("beast", 10), ("tool", 20), ("food", 10)]
    assert [row[0][0] for row in chainrule.predict(tmp_path / "next", ["hay and corn", "axe"])] == ["food", "tool"]
    with pytest.raises(UsageError, match="more.txt: the label 'food' is new, expected only labels of the run"):
        chainrule.train(tmp_path / "hierarchical_softmax", more, tmp_path / "no")


def test_a_quantized_classifier_does_not_go_on(tmp_path):
    first = labeled(tmp_path / "first.txt", [("beast", "the cow eats"), ("tool", "the saw cuts wood")])
    chainrule.train("text-classifier", first, tmp_path / "run", overrides=CLASSIFIER)
    chainrule.quantize(tmp_path / "run", tmp_path / "small")
    with pytest.raises(UsageError, match="small: quantized, so that training cannot go on"):
        chainrule.train(tmp_path / "small", first, tmp_path / "next")


@pytest.mark.parametrize("recipe", ["skipgram", "cbow", "fasttext"])
def test_vectors_go_on_as_with_their_own_option(recipe, kinds, texts, tmp_path):
    how = ["model.dimension=8", "training.threads=1", "training.epochs=1", "tokenizer.min_count=1"]
    chainrule.train(recipe, kinds, tmp_path / "run", overrides=how)
    chainrule.train(tmp_path / "run" / "recipe.yaml", texts / "more.txt", tmp_path / "initial",
                    overrides=[f"model.initial={tmp_path / 'run'}"])
    chainrule.train(tmp_path / "run", texts / "more.txt", tmp_path / "from")
    for name in ("model.safetensors", "tokenizer.json"):
        assert filecmp.cmp(tmp_path / "initial" / name, tmp_path / "from" / name, shallow=False), name
    assert chainrule.load(tmp_path / "from").recipe.model.initial is None
    chainrule.train(tmp_path / "initial", texts / "first.txt", tmp_path / "third")
    with pytest.raises(OptionError, match=r"model\.initial = '\S+', expected null, since training starts from"):
        chainrule.train(tmp_path / "run", texts / "more.txt", tmp_path / "no",
                        overrides=[f"model.initial={tmp_path / 'third'}"])


def test_a_mixture_says_what_to_do_instead(texts, tmp_path):
    for order in (1, 2):
        chainrule.train("ngram", texts / "first.txt", tmp_path / str(order), overrides=[f"model.order={order}"])
    chainrule.train("mixture", texts / "valid.txt", tmp_path / "run",
                    overrides=[f"model.members=[{tmp_path / '1'},{tmp_path / '2'}]"])
    with pytest.raises(UsageError, match=r"learned from each text anew. Try .*model\.members=\[\S+/members/0,\S+/1\]"):
        chainrule.train(tmp_path / "run", texts / "more.txt", tmp_path / "next")
