"""`chainrule inspect` of text classifiers and word vectors as it is typed."""

import json

import pytest

import chainrule
from chainrule.cli.app import main


@pytest.fixture(scope="module")
def folder(kinds_folder, kinds, tmp_path_factory):
    found = tmp_path_factory.mktemp("inspect")
    chainrule.train("text-classifier", kinds_folder / "train.txt", found / "labels", overrides=[
        "model.dimension=8", "model.word_ngrams=2", "model.bucket=5000", "training.epochs=10", "training.threads=1"])
    chainrule.train("text-classifier", kinds_folder / "train.txt", found / "tree", overrides=[
        "model.dimension=8", "model.loss=hierarchical_softmax", "training.threads=1"])
    chainrule.train("ppmi", kinds, found / "words", overrides=["tokenizer.min_count=1", "model.dimension=5"])
    chainrule.train("ngram", kinds, found / "ngram", overrides=["model.order=2"])
    return found


def said(capsys, *args):
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, args)))
    found = capsys.readouterr()
    return ended.value.code, found.out, found.err


def test_a_text_is_explained_word_by_word_and_feature_by_feature(folder, capsys, kinds_folder):
    text = (kinds_folder / "test.txt").read_text().splitlines()[0].split(" ", 1)[1]
    code, out, _ = said(capsys, "inspect", folder / "labels", text)
    lines = out.splitlines()
    assert code == 0 and lines[0] == text and lines[3].startswith("word ") and "ln p lost without it" in lines[3]
    assert [line.split()[0] for line in lines[4:] if line][: len(text.split()) + 1] == [*text.split(), "(end)"]
    assert "The weightiest features, of a difference of +" in out
    code, out, _ = said(capsys, "inspect", folder / "labels", text, "--json")
    [found] = json.loads(out)["texts"]
    assert code == 0 and found["text"] == text and found["features"]


def test_labeled_texts_show_what_is_confused(folder, capsys, kinds_folder):
    code, out, _ = said(capsys, "inspect", folder / "labels", "--data", kinds_folder / "test.csv")
    right = round(chainrule.evaluate(folder / "labels", kinds_folder / "test.csv")["accuracy"] * 100)
    assert code == 0 and f"{right} of 100 texts right" in out


def test_a_tree_of_labels_says_that_it_has_no_parts(folder, capsys):
    code, out, _ = said(capsys, "inspect", folder / "tree", "the cat eats")
    assert code == 0 and "not sums over features" in out and "rather than" not in out


def test_words_have_neighbors_and_cosines(folder, capsys):
    words = list(chainrule.load(folder / "words").vectors.words[:2])
    code, out, _ = said(capsys, "inspect", folder / "words", *words, "--top", 3)
    assert code == 0 and out.split()[:2] == words and "cosines" in out
    code, out, _ = said(capsys, "inspect", folder / "words", *words, "--json")
    found = json.loads(out)
    assert [each["word"] for each in found["words"]] == words and len(found["words"][0]["near"]) == 10


def test_a_language_model_reads_a_text_that_follows_the_run(folder, capsys):
    _, given, _ = said(capsys, "inspect", folder / "ngram", "the cat eats", "--json")
    _, named, _ = said(capsys, "inspect", folder / "ngram", "--text-is", "the cat eats", "--json")
    assert json.loads(given)["tokens"] == json.loads(named)["tokens"]


@pytest.mark.parametrize(("words", "message"), [
    (["labels"], "there is nothing to look at. Give a text"), (["words"], "there is nothing to look at. Name words"),
    (["words", "zebracorn"], "zebracorn: none of the"), (["labels", " "], "the text has no words"),
    (["labels", "a text", "--tokens", "3"], "--tokens = 3 does nothing with a classifier"),
    (["words", "cat", "--text-is", "x"], "holds word vectors; --text-is needs a language model"),
    (["labels", "a text", "--out", "x.png"], "expected a name that ends in .html"),
    (["ngram"], "there is nothing to look at. Try --text"), (["nowhere", "a text"], "no such run folder"),
])
def test_what_cannot_be_shown_is_one_clear_line(words, message, folder, capsys):
    code, out, err = said(capsys, "inspect", folder / words[0], *words[1:])
    assert code in (1, 2) and out == "" and message in err and err.count("\n") == 1
