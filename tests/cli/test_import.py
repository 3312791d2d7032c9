"""`chainrule import`: ARPA files become runs that evaluate, generate and export, or one clear line says why not."""

import json

import pytest

from chainrule.cli.app import main
from chainrule.counting.arpa.read import read_arpa
from chainrule.runs import load
from chainrule.verbs.train import train

LINES = ["the cat sat on the mat", "the dog sat on the cat", "a cat and a dog", "the mat sat"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text, a run on it, and its ARPA file."""
    folder = tmp_path_factory.mktemp("import")
    (folder / "text.txt").write_text("\n".join(LINES * 10) + "\n")
    train("ngram", folder / "text.txt", folder / "run", overrides=["model.order=3", "tokenizer.name=words"])
    assert chainrule("export", folder / "run", "--to", "arpa", folder / "x.arpa") == 0
    (folder / "cut.arpa").write_bytes((folder / "x.arpa").read_bytes()[:-100])
    return folder


def chainrule(*args):
    with pytest.raises(SystemExit) as exit:
        main(list(map(str, args)))
    return exit.value.code or 0


def perplexity(capsys, run, text):
    capsys.readouterr()
    assert chainrule("evaluate", run, "--data", text, "--bootstrap", 0, "--json") == 0
    return json.loads(capsys.readouterr().out)["perplexity"]


def test_an_imported_model_is_the_exported_one(folder, tmp_path, capsys):
    assert chainrule("import", folder / "x.arpa", "--out", tmp_path / "again", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["format"], result["family"], result["imported"], result["order"]) == ("arpa", "ngram", "x.arpa", 3)
    run = load(tmp_path / "again")
    assert run.tokenizer.name == "words"
    assert run.recipe.description.startswith("Imported from x.arpa")
    assert perplexity(capsys, tmp_path / "again", folder / "text.txt") == pytest.approx(
        perplexity(capsys, folder / "run", folder / "text.txt"))


def test_an_imported_model_generates_and_is_exported_to_the_same_file(folder, tmp_path, capsys):
    assert chainrule("import", folder / "x.arpa", "--out", tmp_path / "again") == 0
    assert chainrule("generate", tmp_path / "again", "--prompt", "the cat", "--seed", 1) == 0
    assert "the cat" in capsys.readouterr().out
    assert chainrule("export", tmp_path / "again", "--to", "arpa", tmp_path / "again.arpa") == 0
    assert (tmp_path / "again.arpa").read_bytes() == (folder / "x.arpa").read_bytes()


def test_a_file_is_known_by_its_content_when_its_name_says_nothing(folder, tmp_path):
    (tmp_path / "model").write_bytes((folder / "x.arpa").read_bytes())
    assert chainrule("import", tmp_path / "model", "--out", tmp_path / "run") == 0
    assert load(tmp_path / "run").model.table.order == read_arpa(folder / "x.arpa")[0].order


@pytest.mark.parametrize(("args", "code", "line"), [
    (["IN/none.arpa", "--out", "OUT/run"], 1, "none.arpa: no such file."),
    (["IN/x.arpa"], 2, "import needs --out RUN"),
    (["IN/text.txt", "--out", "OUT/run"], 2, "text.txt: in none of the known formats (arpa, fasttext,"),
    (["IN/text.txt", "--out", "OUT/run", "--from", "arpa"], 1, "text.txt:1: 'the cat sat on the mat', expected"),
    (["IN/x.arpa", "--out", "OUT/run", "--from", "arpq"], 2, "no format named 'arpq'. Did you mean 'arpa'?"),
    (["IN/cut.arpa", "--out", "OUT/run"], 1, "it was cut"),
    (["IN", "--out", "OUT/run"], 1, "not a file."),
])
def test_mistakes_are_one_clear_line_and_nothing_is_written(folder, tmp_path, capsys, args, code, line):
    assert chainrule("import", *(arg.replace("IN", str(folder)).replace("OUT", str(tmp_path)) for arg in args)) == code
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_existing_run_is_replaced_only_with_force(folder, tmp_path, capsys):
    for force, code in (([], 0), ([], 1), (["--force"], 0)):
        assert chainrule("import", folder / "x.arpa", "--out", tmp_path / "run", *force) == code
    assert load(tmp_path / "run").report["imported"] == "x.arpa"
