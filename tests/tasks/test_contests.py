"""What tasks are compared on: the same held-out units for all, by the numbers that `evaluate` has."""

import math

import numpy as np
import pytest

import chainrule
from chainrule.contests import Contested
from chainrule.errors import DataError, UsageError
from chainrule.inputs.labeled import Layout, labeled
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import build
from chainrule.tasks._labeled_texts import parted
from chainrule.text.corpora import open_corpus

FAST = ["model.dimension=8", "training.epochs=5", "training.threads=1"]


def contest(recipe, data, valid=None, *, changes=(), fraction=0.1):
    made = load_recipe(recipe, changes)
    return build("tasks", made.task).contest(made, [str(data)], valid and [str(each) for each in valid],
                                             fraction=fraction, seed=0)


@pytest.fixture(scope="module")
def classifier(kinds_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("contests") / "run"
    chainrule.train("text-classifier", kinds_folder / "train.txt", out, overrides=FAST)
    return chainrule.load(out)


def test_a_classifiers_numbers_are_those_of_evaluate(classifier, kinds_folder):
    found = contest("text-classifier", kinds_folder / "train.txt", [kinds_folder / "test.csv"])
    answers, measured = found.answers(classifier), chainrule.evaluate(classifier, kinds_folder / "test.csv")
    assert found.measure.label == "accuracy" and found.units == "texts" and found.split == 0
    assert found.measure.value(answers.table) == pytest.approx(measured["accuracy"])
    assert answers.beside["log_loss"] == pytest.approx(measured["log_loss"], rel=1e-6)
    f1 = [row["f1"] for row in measured["per_label"].values() if row["f1"] is not None]
    assert answers.beside["macro_f1"] == pytest.approx(np.mean(f1))


def test_the_baseline_is_the_most_frequent_label_of_the_training_texts(tmp_path):
    (tmp_path / "train.txt").write_text("__label__a x\n__label__a y\n__label__b z\n__label__a w\n")
    (tmp_path / "test.txt").write_text("__label__b q\n__label__a r\n__label__a s\n__label__never t\n")
    found = contest("text-classifier", tmp_path / "train.txt", [tmp_path / "test.txt"])
    [(name, answers)] = found.baselines().items()
    assert name == "most frequent label" and answers.table[:, 0].tolist() == [0, 1, 1, 0]
    assert answers.beside["log_loss"] == pytest.approx(-(math.log(1 / 4) + 2 * math.log(3 / 4)) / 3)
    assert answers.beside["macro_f1"] == pytest.approx((2 * 2 / (4 + 2) + 0 + 0) / 3)
    assert "1 labels of held-out texts never occur in the training texts" in found.notes[0]


def test_texts_with_several_labels_are_ranked_by_micro_f1(tmp_path):
    lines = ["__label__a __label__b red green", "__label__a red", "__label__b green", "__label__c blue"] * 8
    (tmp_path / "train.txt").write_text("\n".join(lines) + "\n")
    found = contest("text-classifier", tmp_path / "train.txt", fraction=0.25)
    chainrule.train("text-classifier", tmp_path / "train.txt", tmp_path / "run", overrides=[
        "model.loss=one_vs_all", "model.dimension=8", "training.lr=1", "training.epochs=60", "training.threads=1"])
    answers = found.answers(chainrule.load(tmp_path / "run"))
    assert found.measure.label == "micro-F1" and answers.table.shape == (8, 3)
    true = [len(each.labels) for each in found.held_out.examples]
    assert answers.table[:, 2].tolist() == true and found.measure.value(answers.table) == 1.0  # both labels are given


def test_texts_of_both_halves_are_disjoint_and_complete_also_when_parted_twice(kinds_folder):
    corpus, layout = open_corpus(str(kinds_folder / "train.txt")), Layout()
    train, held = parted(corpus, 0.1, 0)
    inner, valid = parted(train, 0.1, 1)
    lines = [{each.line for each in labeled(part, layout)} for part in (inner, valid, held)]
    assert sum(map(len, lines)) == len(set.union(*lines)) == sum(1 for _ in labeled(corpus, layout)) == 400
    assert len(lines[2]) == 40 and len(lines[1]) == 36


def test_copies_of_training_texts_are_told(tmp_path):
    (tmp_path / "train.txt").write_text("__label__a one two\n__label__b three\n")
    (tmp_path / "test.txt").write_text("__label__a  one  two\n__label__b four\n")
    assert "1 of the 2 held-out texts are also in the training texts" in contest(
        "text-classifier", tmp_path / "train.txt", [tmp_path / "test.txt"]).notes[0]


def test_too_few_texts_to_hold_some_out_are_refused(tmp_path):
    (tmp_path / "one.txt").write_text("__label__a one\n")
    with pytest.raises(DataError, match="expected some of each. Give more texts, or name the held-out ones"):
        contest("text-classifier", tmp_path / "one.txt")


@pytest.fixture(scope="module")
def words(kinds, tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    chainrule.train("ppmi", kinds, folder / "run", overrides=["tokenizer.min_count=1", "model.dimension=6"])
    run = chainrule.load(folder / "run")
    known = list(run.vectors.words[:12])
    (folder / "questions.txt").write_text(": some\n" + "".join(
        f"{known[n]} {known[n + 1]} {known[n + 2]} {known[n + 3]}\n" for n in range(8)) + "zebra lion cat dog\n")
    (folder / "pairs.tsv").write_text("".join(
        f"{known[n]}\t{known[n + 3]}\t{(n * 7) % 5}.5\n" for n in range(9)) + "zebra\tcat\t3\n")
    return run, folder


def test_answers_of_word_vectors_give_the_numbers_of_evaluate(words):
    run, folder = words
    found = contest("ppmi", "pydoc", [folder / "pairs.tsv", folder / "questions.txt"])
    answers = found.answers(run)
    measured = chainrule.evaluate(run, [str(folder / "pairs.tsv"), str(folder / "questions.txt")])["files"]
    assert found.measure.label == "Spearman's ρ" and found.units == "pairs"
    assert answers.known.tolist() == [True] * 9 + [False]
    spearman = found.measure.value(answers.table[answers.known])
    assert spearman == pytest.approx(measured[str(folder / "pairs.tsv")]["spearman"], abs=1e-6)
    assert answers.beside == {"answered": 0.9, "1": measured[str(folder / "questions.txt")]["accuracy"]}


def test_questions_with_unknown_words_are_no_answers(words):
    run, folder = words
    found = contest("ppmi", "pydoc", [folder / "questions.txt"])
    answers = found.answers(run)
    measured = chainrule.evaluate(run, folder / "questions.txt")["files"][str(folder / "questions.txt")]
    assert answers.known.sum() == measured["asked"] and (~answers.known).sum() == measured["skipped"] == 1
    assert answers.table[answers.known, 0].sum() == measured["correct"]


def test_labeled_texts_measure_vectors_text_by_text(words):
    run, folder = words
    known = list(run.vectors.words[:8])
    (folder / "labeled.txt").write_text("".join(
        f"__label__{n % 2} {known[n % 8]} {known[(3 * n) % 8]} a b\n" for n in range(40)))
    found = contest("ppmi", "pydoc", [folder / "labeled.txt"])
    measured = chainrule.evaluate(run, folder / "labeled.txt")["files"][str(folder / "labeled.txt")]
    assert found.units == "texts"
    assert found.measure.value(found.answers(run).table) == pytest.approx(measured["accuracy"])


def test_word_vectors_need_a_file_to_be_ranked_by():
    with pytest.raises(UsageError, match="expected --valid FILE, such as: chainrule compare cbow skipgram"):
        contest("skipgram", "pydoc")


def test_other_tasks_are_compared_by_the_text():
    assert not isinstance(build("tasks", "language"), Contested)
    assert all(isinstance(build("tasks", name), Contested) for name in ("classification", "word_vectors"))
