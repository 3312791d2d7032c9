"""`chainrule compare` of text classifiers and word vectors as it is typed: tables, reports, resuming, refusals."""

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest
import warm_python

ROOT = Path(__file__).parents[2]
RECIPES = ["text-classifier", "text-classifier", "model.word_ngrams=2", "--change", "training.threads=1", "--change",
           "model.bucket=2000", "--change", "training.lr=0.5"]


def ran(*args, folder):
    done = subprocess.run([warm_python.chainrule(), *map(str, args)], cwd=folder, text=True,
                          capture_output=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"})
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(kinds_folder, tmp_path_factory):
    found = tmp_path_factory.mktemp("by-measure")
    (found / "labeled.txt").write_text((kinds_folder / "train.txt").read_text())
    return found


@pytest.fixture(scope="module")
def shown(folder):
    return ran("compare", *RECIPES, "--data", "labeled.txt", "--budget", "10m", "--out", "report", "--advise", "--csv",
               "table.csv", "--latex", "table.tex", "--markdown", "table.md", folder=folder)


@pytest.fixture(scope="module")
def report(shown, folder):
    assert shown.returncode == 0, shown.stderr
    return json.loads((folder / "report" / "report.json").read_text())


def test_a_person_gets_a_table_by_accuracy_and_what_to_do_next(shown, report):
    lines = shown.stdout.splitlines()
    assert lines[0].split()[:4] == ["accuracy", "95", "%", "interval"] and lines[3].startswith("most frequent label")
    assert "Higher is better: accuracy on the same 40 texts for all, none of them learned from." in shown.stdout
    assert "paired permutation test over texts" in shown.stdout and "Advice: " in shown.stdout
    assert lines[-1] == '  chainrule inspect report/best "a text"'


def test_the_numbers_are_those_of_evaluate_on_the_held_out_texts(report, folder):
    import chainrule
    from chainrule.inputs.labeled import Layout, labeled
    from chainrule.tasks._labeled_texts import parted
    from chainrule.text.corpora import open_corpus

    _, held = parted(open_corpus(str(folder / "labeled.txt")), 0.1, 0)
    (folder / "held.txt").write_text("".join(
        f"__label__{each.labels[0]} {each.text.decode()}\n" for each in labeled(held, Layout())))
    for row in report["rows"][:2]:
        measured = chainrule.evaluate(folder / "report" / row["run"], folder / "held.txt")
        assert row["value"] == pytest.approx(measured["accuracy"])
        assert row["beside"]["log_loss"] == pytest.approx(measured["log_loss"], rel=1e-6)
        assert row["interval"][0] <= row["value"] <= row["interval"][1]
    assert report["rows"][0]["value"] >= report["rows"][1]["value"] and report["best"] == report["rows"][0]["name"]
    assert os.readlink(folder / "report" / "best") == report["rows"][0]["run"]


def test_the_same_command_goes_on_and_json_is_the_report(report, folder):
    done = ran("compare", *RECIPES, "--data", "labeled.txt", "--budget", "10m", "--out", "report", "--json",
               folder=folder)
    assert done.stderr.count("already finished.") == 2 and json.loads(done.stdout) == report


def test_tables_for_a_paper_have_the_columns_of_the_measure(report, folder):
    rows = list(csv.DictReader((folder / "table.csv").open()))
    assert [row["name"] for row in rows] == [row["name"] for row in report["rows"]]
    assert [float(row["accuracy"]) for row in rows] == [row["value"] for row in report["rows"]]
    assert float(rows[0]["log_loss"]) == report["rows"][0]["beside"]["log_loss"]
    latex = (folder / "table.tex").read_text().splitlines()
    assert latex[1] == r"\begin{tabular}{lrrrrrrrr}" and latex[3].startswith(r"model & accuracy & 95 \% low")
    assert all(line.count("&") == 8 for line in latex[5:8])
    assert (folder / "table.md").read_text().startswith("| model | accuracy | 95 % low | 95 % high | macro-F1 |")


def test_seeds_and_a_grid_make_rows_with_a_deviation(folder):
    done = ran("compare", "text-classifier", "--grid", "model.dimension=2,5", "--seeds", 2, "--change",
               "training.threads=1", "--data", "labeled.txt", "--budget", "10m", "--out", "seeds", "--json",
               folder=folder)
    found = json.loads(done.stdout)
    assert {row["name"] for row in found["rows"]} == {"text-classifier dimension=2", "text-classifier dimension=5",
                                                      "most frequent label"}
    for row in found["rows"][:2]:
        values = [seed["value"] for seed in row["seeds"]]
        assert len(values) == 2 and row["value"] == pytest.approx(sum(values) / 2) and row["spread"] is not None
    assert found["pairs"] and len(found["pairs"]) == 3


def test_patience_is_given_training_texts_and_never_the_held_out_ones(folder):
    done = ran("compare", "text-classifier", "training.patience=2", "--change", "training.threads=1", "--data",
               "labeled.txt", "--budget", "10m", "--out", "patient", "--json", folder=folder)
    found = json.loads(done.stdout)
    assert found["rows"][0]["status"] == "ok"
    assert any("stops by validation, for which a tenth of its training texts was used" in note
               for note in found["notes"])
    assert not any("ended training" in note for note in found["notes"])  # a plateau did, or the last pass
    own = json.loads((folder / "patient" / found["rows"][0]["run"] / "report.json").read_text())
    assert own["valid"]["examples"] == 36 and own["texts"] == 324  # of 400: 40 held out


@pytest.mark.parametrize(("words", "message"), [
    (["ngram", "text-classifier", "--data", "labeled.txt"],
     "ngram (language model) and text-classifier (classifier) are of different tasks, expected one task for all"),
    (["skipgram", "cbow", "--data", "pydoc"], "expected --valid FILE, such as: chainrule compare cbow skipgram"),
    (["text-classifier", "task.prefix=x", "text-classifier", "--data", "labeled.txt"],
     "reads the data in another way than text-classifier task.prefix=x (prefix = '__label__' and 'x'), expected"),
    (["bert-small", "bert-small", "tokenizer=words", "--data", "labeled.txt"],
     "bert-small tokenizer=words reads the data in another way than bert-small (tokenizer = words"),
    (["bert-small", "t5-small", "--data", "labeled.txt"], "are of different tasks, expected one task for all"),
    (["text-classifier", "--data", "pydoc"], "a built-in corpus has no labels"),
    (["skipgram", "cbow", "--data", "pydoc", "--valid", "missing.txt"], "missing.txt: no such file"),
], ids=["tasks", "no file", "labels", "tokens", "masks and spans", "no labels", "missing"])
def test_what_cannot_be_compared_is_refused_before_training(words, message, folder):
    done = ran("compare", *words, "--out", "refused", folder=folder)
    assert done.returncode in (1, 2) and message in done.stderr and "started" not in done.stderr
    assert done.stderr.count("\n") == 1 and not (folder / "refused").exists()


def test_word_vectors_are_ranked_by_the_questions_that_all_can_answer(folder, kinds):
    (folder / "kinds.txt").write_text(kinds.read_text())
    words = sorted({word for line in kinds.read_text().splitlines() for word in line.split()})[:10]
    (folder / "pairs.tsv").write_text("".join(f"{one}\t{other}\t{n % 7}\n" for n, (one, other) in enumerate(
        (one, other) for one in words for other in words if one < other)) + "zebra\tlion\t9\n")
    done = ran("compare", "ppmi", "--grid", "model.dimension=3,6", "--change", "tokenizer.min_count=1", "--data",
               "kinds.txt", "--valid", "pairs.tsv", "--budget", "10m", "--out", "words", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["measure"]["label"], found["units"]) == ("Spearman's ρ", "pairs")
    assert found["data"]["units"] == found["data"]["compared_units"] + 1
    assert "can be answered by every model" in " ".join(found["notes"])
    assert all(row["interval"] is not None and row["beside"]["answered"] < 1 for row in found["rows"])
    assert any("training does what the recipe asks for" in note for note in found["notes"])
