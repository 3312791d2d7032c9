"""`chainrule neighbors`, `analogy` and `evaluate` on word vectors: tables, JSON, and one clear line for a mistake."""

import json

import pytest
from small_text import BEASTS

import chainrule
from chainrule.cli.app import main


@pytest.fixture(scope="module")
def folder(kinds, tmp_path_factory):
    folder = tmp_path_factory.mktemp("verbs")
    chainrule.train("ppmi", kinds, folder / "vectors", overrides=["tokenizer.min_count=1", "model.dimension=8"])
    chainrule.train("ngram", kinds, folder / "ngram", overrides=["model.order=2"])
    return folder


def said(capsys, *words):
    """Exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as done:
        main([str(word) for word in words])
    return done.value.code, *capsys.readouterr()


def test_neighbors_as_a_table_and_as_json(folder, capsys):
    code, shown, _ = said(capsys, "neighbors", folder / "vectors", "cat", "--topn", "4")
    assert code == 0 and [line.split()[0] for line in shown.splitlines()[:1]] == ["word"]
    assert {line.split()[0] for line in shown.splitlines()[1:]} == set(BEASTS) - {"cat"}
    found = json.loads(said(capsys, "neighbors", folder / "vectors", "cat", "--minus", "saw", "--json")[1])
    assert found["words"] == ["cat"] and found["minus"] == ["saw"] and len(found["neighbors"]) == 10
    assert set(found["neighbors"][0]) == {"word", "cosine"}


def test_an_analogy_as_a_table_and_as_json(folder, capsys):
    assert said(capsys, "analogy", folder / "vectors", "cat", "eats", "saw")[1].splitlines()[0].split() == [
        "word", "score"]
    found = json.loads(said(capsys, "analogy", folder / "vectors", "cat", "eats", "saw", "--method", "3CosMul",
                            "--topn", "2", "--json")[1])
    vectors = chainrule.load(folder / "vectors").vectors
    assert [(row["word"], row["score"]) for row in found["answers"]] == vectors.analogy(
        "cat", "eats", "saw", topn=2, method="3CosMul")


def test_another_case_of_a_word_is_taken_and_said(folder, capsys):
    code, shown, log = said(capsys, "neighbors", folder / "vectors", "Cat", "--minus", "SAW", "--json")
    found = json.loads(shown)
    assert code == 0 and log == "chainrule: no 'Cat', taking 'cat'.\nchainrule: no 'SAW', taking 'saw'.\n"
    assert (found["words"], found["minus"]) == (["cat"], ["saw"])
    code, shown, log = said(capsys, "analogy", folder / "vectors", "cat", "Eats", "saw", "--json")
    assert code == 0 and json.loads(shown)["b"] == "eats" and log == "chainrule: no 'Eats', taking 'eats'.\n"


def test_a_test_file_is_measured(folder, capsys, tmp_path):
    (tmp_path / "pairs.tsv").write_text("cat\tdog\t9\ncat\tsaw\t1\ncat\tpan\t2\ncat\tyeti\t5\n")
    code, shown, _ = said(capsys, "evaluate", folder / "vectors", "--data", tmp_path / "pairs.tsv")
    assert code == 0 and "spearman" in shown and "skipped" in shown
    found = json.loads(said(capsys, "evaluate", folder / "vectors", "--data", tmp_path / "pairs.tsv", "--json")[1])
    scores = found["files"][str(tmp_path / "pairs.tsv")]
    assert (scores["evaluation"], scores["pairs"], scores["skipped"]) == ("similarity", 3, 1)


@pytest.mark.parametrize("words, code, error", [
    (["neighbors", "vectors", "kat"], 1, "kat: none of the 22 words that have a vector. Did you mean 'cat'?"),
    (["neighbors", "ngram", "cat"], 2, "holds a language model; neighbors needs word vectors."),
    (["analogy", "ngram", "a", "b", "c"], 2, "holds a language model; analogy needs word vectors."),
    (["analogy", "vectors", "cat", "eats", "saw", "--method", "x"], 2, "method = 'x', expected '3CosAdd' or"),
    (["generate", "vectors"], 2, "holds word vectors; generate needs a language model."),
])
def test_a_mistake_is_one_line(folder, capsys, words, code, error):
    found = said(capsys, words[0], folder / words[1], *words[2:])
    assert found[0] == code and found[1] == "" and found[2].count("\n") == 1 and error in found[2]
