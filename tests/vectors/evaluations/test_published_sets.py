"""The published tests of word vectors are known by their content, and read to the last line."""

from pathlib import Path

import numpy as np
import pytest

from chainrule.vectors.evaluating import evaluate
from chainrule.vectors.store import Vectors

DATA = Path(__file__).parents[4] / "shared" / "data"
pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not there: no folder ../shared/data")]
PAIRS = {"EN-MC-30.txt": 30, "EN-MEN-TR-3k.txt": 3000, "EN-MTurk-287.txt": 287, "EN-MTurk-771.txt": 771,
         "EN-RG-65.txt": 65, "EN-RW-STANFORD.txt": 2034, "EN-SimVerb-3500.txt": 3500, "EN-VERB-143.txt": 144,
         "EN-WS-353-REL.txt": 252, "EN-WS-353-SIM.txt": 203, "EN-YP-130.txt": 130, "simlex999.txt": 999,
         "wordsim353.tsv": 353}
QUESTIONS = {"questions-words.txt": (19_544, 14), "EN-MSR.txt": (8_000, 16)}


@pytest.fixture(scope="module")
def vectors():
    words = ["good", "better", "king", "queen", "man", "woman", "boy", "girl", "tiger", "cat", "book", "paper", "the",
             "a", "film", "bad", "worse"]
    return Vectors(words, np.random.default_rng(0).normal(size=(len(words), 10)).astype(np.float32))


def test_every_test_of_words_is_read(vectors):
    found = {Path(name).name: each for name, each in evaluate(vectors, [DATA / "wordvec"])["files"].items()}
    assert {name: each["pairs"] + each["skipped"] for name, each in found.items() if "pairs" in each} == PAIRS
    assert {name: (each["asked"] + each["skipped"], len(each["sections"])) for name, each in found.items()
            if "asked" in each} == QUESTIONS


@pytest.mark.parametrize(("folder", "sizes"), [
    ("sst", [(6920, 872, 1821), (8544, 1101, 2210)]), ("trec", [(5452, 0, 500)])])
def test_training_and_test_files_are_found(vectors, folder, sizes):
    found = evaluate(vectors, [DATA / folder])["files"].values()
    assert [(each["train"], each["valid"], each["test"]) for each in found] == sizes


def test_movie_reviews_are_cross_validated(vectors):
    (found,) = evaluate(vectors, [DATA / "mr"])["files"].values()
    assert (found["texts"], found["folds"], found["classes"]) == (10_662, 10, 2)
    assert found["accuracy"] > found["most_frequent"]
