"""Sealed folders whose arrays lie: one clear line, never a crash, whatever stands in them."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import in_this_process, refused

from chainrule.storage.manifest import NAME
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.storage.writing import seal
from chainrule.verbs.count import count
from chainrule.verbs.train import train

ROOT = Path(__file__).parents[2]
LINES = "the cat sat on the mat\nthe dog sat on the cat\na cat and a dog\nthe mat sat\n"
LABELED = "__label__a the cat sat\n__label__b a dog ran off\n__label__c cows eat grass\n"
TRIALS = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Runs of several families, and counts."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "text.txt").write_text(LINES * 10)
    (folder / "labeled.txt").write_text(LABELED * 10)
    train("ngram", folder / "text.txt", folder / "words", overrides=["model.order=3"])
    train("ngram", folder / "text.txt", folder / "compact", overrides=["model.order=3", "model.compact=true"])
    train("text-classifier", folder / "labeled.txt", folder / "classifier",
          overrides=["model.loss=hs", "model.word_ngrams=2", "model.bucket=500", "model.dimension=4"])
    how = ["model.method.bucket=500", "model.method.loss=hierarchical_softmax", "tokenizer.min_count=1",
           "model.dimension=4", "training.epochs=1"]
    train("fasttext", folder / "text.txt", folder / "vectors", overrides=how)
    count(folder / "text.txt", folder / "counts", overrides=["model.order=3"])
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def chainrule(place, capfd):
    """The command line in this process."""
    return in_this_process(capfd)


def resealed(run, changed, name="model.safetensors"):
    """The folder with other arrays and a manifest that vouches for them."""
    path = Path(run) / name
    tensors = {key: np.array(value) for key, value in open_tensors(path).items()} | changed
    path.unlink()
    save_tensors(path, {key: value for key, value in tensors.items() if value is not None})
    (Path(run) / NAME).unlink()
    seal(Path(run))


def arrays_of(run, name="model.safetensors"):
    return {key: np.array(value) for key, value in open_tensors(Path(run) / name).items()}


def in_a_process(*args):
    done = subprocess.run([sys.executable, "-m", "chainrule", *args], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)


def test_alternating_offsets_do_not_crash_the_kernel_that_scores_long_texts(place):
    (place / "long.txt").write_text(LINES * 30_000)  # 600,000 tokens: scored by compiled code
    starts = arrays_of("words")["order1.starts"]
    starts[::2], starts[1::2] = 0, 0xFFFFFFF0
    resealed("words", {"order1.starts": starts})
    done = in_a_process("evaluate", "words", "--data", "long.txt")
    refused(done, 1, "words/model.safetensors: the array 'order1.starts' does not run from 0 to")


@pytest.mark.parametrize(("name", "change", "words"), [
    ("order1.starts", lambda a: np.append(a[:-1], a[-1] + 1), "does not run from 0 to"),
    ("order1.starts", lambda a: a[::-1].copy(), "does not run from 0 to"),
    ("order1.starts", lambda a: np.concatenate([a[:1], a[1:-1][::-1], a[-1:]]), "falls"),
    ("order1.starts", lambda a: a[:-1], "has the shape"),
    ("order1.starts", lambda a: a.astype(np.int64), "holds int64, expected uint32"),
    ("order2.starts", lambda a: None, "is missing"),
    ("order2.words", lambda a: a + 100, "points outside its target"),
    ("order2.words", lambda a: -a, "points outside its target"),
    ("order3.words", lambda a: a[:-1], "has the shape"),
    ("order3.words", lambda a: a * 0, "is not sorted"),
    ("order1.log_probs", lambda a: a[:-1], "has the shape"),
    ("order2.backoffs", lambda a: a.reshape(-1, 1), "has the shape"),
    ("order3.log_probs", lambda a: None, "is unknown"),
    ("order99999999999.log_probs", lambda a: np.zeros(3, np.float32), "is unknown"),
    ("nothing", lambda a: np.zeros(3, np.float32), "is unknown")])
def test_arrays_of_an_ngram_that_do_not_fit_together_are_refused_and_named(chainrule, place, name, change, words):
    resealed("words", {name: change(arrays_of("words").get(name))})
    refused(chainrule("evaluate", "words", "--data", "text.txt"), 1, "words/model.safetensors: the array '", words)


def test_codes_without_an_entry_in_their_book_are_refused(chainrule, place):
    book = arrays_of("compact")["order2.log_probs.book"]
    resealed("compact", {"order2.log_probs.book": book[:2]})
    refused(chainrule("score", "compact", "text.txt"), 1, "the array 'order2.log_probs' points outside its target")


@pytest.mark.parametrize(("name", "change", "words"), [
    ("order1.words", lambda a: a[::-1].copy(), "is not sorted"),
    ("order1.starts", lambda a: a * 0, "does not run from 0 to"),
    ("order2.words", lambda a: a + 100, "points outside its target"),
    ("order3.counts", lambda a: a[:-1], "has the shape")])
def test_counts_that_do_not_fit_together_are_refused(chainrule, place, name, change, words):
    changed = change(arrays_of("counts", "counts.safetensors")[name])
    resealed("counts", {name: changed}, "counts.safetensors")
    refused(chainrule("merge", "counts", "--out", "new"), 1, "counts/counts.safetensors: the array '", words)


@pytest.mark.parametrize(("name", "change", "words"), [
    ("buckets", lambda a: a + 10_000, "points outside its target"),
    ("buckets", lambda a: a[:-1], "has the shape"),
    ("outputs", lambda a: a[:-1], "has the shape"),
    ("tree_starts", lambda a: a * 1000, "does not run from 0 to"),
    ("tree_nodes", lambda a: a + 1000, "points outside its target"),
    ("tree_codes", lambda a: a + 7, "points outside its target"),
    ("inputs", lambda a: None, "is missing")])
def test_arrays_of_a_classifier_that_do_not_fit_together_are_refused(chainrule, place, name, change, words):
    resealed("classifier", {name: change(arrays_of("classifier")[name])})
    refused(chainrule("predict", "classifier", "labeled.txt"), 1, "classifier/model.safetensors: the array '", words)


@pytest.mark.parametrize(("name", "change", "words"), [
    ("buckets", lambda a: a + 10_000, "points outside its target"),
    ("buckets", lambda a: a[::-1].copy(), "is not sorted"),
    ("shape", lambda a: a * 0 - 1, "expected lengths and buckets of n-grams"),
    ("grams", lambda a: a[:, :-1].copy(), "has the shape"),
    ("vectors", lambda a: a[:-1], "has the shape"),
    ("tree", lambda a: a * 0, "has a branch that does not lead to the root")])
def test_arrays_of_vectors_that_do_not_fit_together_are_refused(chainrule, place, name, change, words):
    resealed("vectors", {name: change(arrays_of("vectors")[name])})
    refused(chainrule("neighbors", "vectors", "cat"), 1, "vectors/model.safetensors: the array '", words)


FUZZ = """
import sys
from pathlib import Path
import chainrule.counting.query as query
from chainrule.cli.app import main

query.JIT_PAYS_FROM = 0  # every text is scored by compiled code
for run in sorted(Path().glob("trial*")):
    for args in (["evaluate", str(run), "--data", "text.txt"], ["generate", str(run), "--max-tokens", "5"]):
        print(run, flush=True)
        try:
            main(args)
        except SystemExit as exit:
            assert exit.code in (None, 0, 1), (run, args, exit.code)
"""


@pytest.mark.parametrize("run", ["words", "compact"])
def test_random_values_in_any_array_never_crash(place, run):
    """Sealed folders with a few replaced values each: an answer or one line, never a signal, never a traceback."""
    chance, arrays = random.Random(run), arrays_of(run)
    for trial in range(TRIALS):
        name = sorted(arrays)[trial % len(arrays)]
        changed = arrays[name].copy()
        raw = changed.reshape(-1).view(np.uint8)
        for _ in range(chance.choice([1, 1, 4, len(raw)])):
            raw[chance.randrange(len(raw))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        shutil.copytree(run, f"trial{trial}")
        resealed(f"trial{trial}", {name: changed})
    done = subprocess.run([sys.executable, "-c", FUZZ], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, (done.returncode, done.stdout[-100:], done.stderr[-3000:])
    assert "Traceback" not in done.stderr and "bug" not in done.stderr
    refusals = sum("the array 'order" in line for line in done.stderr.splitlines())
    assert refusals > TRIALS / 4
