"""Figures of taggers: against counts by hand and against seqeval, repairs said aloud."""

import logging

import numpy as np
import pytest

from chainrule.errors import DataError
from chainrule.evaluation.options import Measuring
from chainrule.evaluation.tagging import TaggedPair, in_scheme, scheme_of, tag_figures, tags_of
from chainrule.inputs.tagged import Tagged


def sentence(words, tags, line=1):
    return Tagged(tuple(words.split()), tuple(tags.split()), "a.txt", line)


GOLD = [sentence("the cow eats hay", "D N V N"), sentence("cows eat", "N V", 6), sentence("oh", "I", 9)]
GIVEN = [["D", "N", "N", "V"], ["N", "V"], ["N"]]


def figures(gold=GOLD, given=GIVEN, tags=("D", "N", "V"), scheme="plain", knows=None, bootstrap=200):
    return tag_figures(TaggedPair(gold, given, scheme), list(tags), knows, Measuring(bootstrap))


def test_accuracy_and_the_table_are_those_counted_by_hand():
    found = figures(knows=lambda word: word != "hay")
    assert found["accuracy"] == 4 / 7 and found["words"] == 7 and found["sentences"] == 3
    assert found["per_tag"]["N"] == {"precision": 2 / 4, "recall": 2 / 3, "f1": 4 / 7, "support": 3}
    assert found["per_tag"]["I"] == {"precision": None, "recall": 0.0, "f1": 0.0, "support": 1}
    assert (found["unknown_words"], found["accuracy_of_unknown_words"]) == (1, 0.0)
    assert found["sentences_without_errors"] == 1 / 3 and list(found["per_tag"])[0] == "N"
    assert {"true": "V", "given": "N", "count": 1} in found["confusions"]
    worst = found["most_wrong"][0]
    assert (worst["line"], worst["errors"], worst["mistakes"]) == (1, 2, ["eats N for V", "hay V for N"])


def test_words_with_a_tag_that_training_never_had_are_counted_and_said(caplog):
    with caplog.at_level(logging.WARNING, "chainrule"):
        assert figures()["unseen_tags"] == 1
    assert "1 words have a tag that training never had, so that it is never given: I." in caplog.text
    assert "unseen_tags" not in figures(tags="DNVI")


def test_the_interval_draws_sentences():
    many = [sentence("a b", "X Y", n) for n in range(40)]
    given = [["X", "Y"] if n % 4 else ["X", "X"] for n in range(40)]
    found = figures(many, given, "XY")
    low, high = found["interval"]["accuracy"]
    assert low < found["accuracy"] == 1 - 10 / 80 < high and high - low == pytest.approx(0.14, abs=0.04)
    assert figures(many, given, "XY", bootstrap=0)["interval"] == {}


def test_entities_are_measured_as_seqeval_does():
    seqeval = pytest.importorskip("seqeval.metrics")
    draw, tags = np.random.default_rng(0), ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    gold = [[tags[n] for n in draw.integers(0, 5, 7)] for _ in range(50)]
    given = [[own if draw.random() < 0.7 else tags[draw.integers(0, 5)] for own in each] for each in gold]
    found = figures([sentence("a b c d e f g", " ".join(each)) for each in gold], given, tags, "bio")
    assert found["f1"] == pytest.approx(seqeval.f1_score(gold, given))
    assert found["precision"] == pytest.approx(seqeval.precision_score(gold, given))
    assert found["recall"] == pytest.approx(seqeval.recall_score(gold, given))
    assert set(found["per_type"]) == {"PER", "LOC"} and set(found["interval"]) == {"f1", "accuracy"}


@pytest.mark.parametrize("tags, scheme", [
    (["DET", "NOUN"], "plain"), (["B-X", "I-X", "O"], "bio"), (["I-X", "O"], "bio"),
    (["B-X", "E-X", "O", "S-X"], "bioes"), (["O"], "plain")])
def test_the_scheme_of_a_models_tags(tags, scheme):
    assert scheme_of(tags) == scheme


def test_invalid_sequences_are_repaired_and_said_aloud(caplog):
    given = [sentence("a b c", "B-X O B-X"), sentence("a b c", "B-X I-X O"), sentence("a b c", "O I-X I-X", 9)]
    with caplog.at_level(logging.INFO, "chainrule"):
        found = in_scheme(given, name="a.txt")
    assert [each.tags for each in found][2] == ("O", "B-X", "I-X")
    assert "a.txt: 1 tags break the rules of BIO and were repaired, the first in the sentence of a.txt, line 9" in (
        caplog.text)


def test_iob1_becomes_bio_and_bio_becomes_bioes(caplog):
    given = [sentence("a b c", "I-X I-X O"), sentence("a b", "I-X B-X")]
    with caplog.at_level(logging.INFO, "chainrule"):
        assert [each.tags for each in in_scheme(given, name="a")] == [("B-X", "I-X", "O"), ("B-X", "B-X")]
    assert "a: tags are IOB1, and are read as BIO." in caplog.text
    assert [each.tags for each in in_scheme(given, "bioes", name="a")] == [("B-X", "E-X", "O"), ("S-X", "S-X")]


def test_what_a_model_gives_is_repaired_and_said_aloud(caplog):
    class Model:
        tags = ("B-X", "I-X", "O")

        def tag(self, sentences):
            return [["O", "I-X"][:len(each)] for each in sentences]

    with caplog.at_level(logging.INFO, "chainrule"):
        found = tags_of(Model(), [sentence("a b", "O B-X")], "a")
    assert found.given == [["O", "B-X"]] and found.right.tolist() == [[2, 2]] and found.entities.f1 == 1
    assert "1 tags that the model gave break the rules of BIO and were repaired" in caplog.text


def test_tags_of_another_length_are_refused():
    with pytest.raises((DataError, ValueError)):
        figures(given=[["D"], *GIVEN[1:]])
