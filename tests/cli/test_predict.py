"""chainrule predict and quantize on the command line: what they print, and what they refuse."""

import json

import pytest

from chainrule.cli.app import main

WORDS = ["model.dimension=8", "training.lr=1", "training.epochs=50", "training.threads=1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    (folder / "train.txt").write_text("__label__up rising tall\n__label__down falling low\n__label__side left\n" * 20)
    (folder / "new.txt").write_text("rising\n__label__up low low\n\nleft\n")
    (folder / "new.csv").write_text("id,text\n7,falling\n8,tall\n")
    data, out = str(folder / "train.txt"), str(folder / "run")
    assert run(["train", "text-classifier", "--data", data, "--out", out, *WORDS]) == 0
    return folder


def run(args):
    with pytest.raises(SystemExit) as ended:
        main(args)
    return ended.value.code


def said(capsys, *args):
    code = run(list(map(str, args)))
    found = capsys.readouterr()
    return code, found.out, found.err


def test_every_line_gets_its_likeliest_labels(folder, capsys):
    capsys.readouterr()
    code, out, _ = said(capsys, "predict", folder / "run", folder / "new.txt", "--top", 2, "--json")
    rows = json.loads(out)["texts"]
    assert code == 0 and [row["line"] for row in rows] == [1, 2, 4]
    assert [row["labels"][0]["label"] for row in rows] == ["up", "down", "side"]
    assert all(row["labels"][0]["probability"] > row["labels"][1]["probability"] for row in rows)
    _, out, _ = said(capsys, "predict", folder / "run", folder / "new.txt")
    assert [line.split()[:2] for line in out.splitlines()] == [["line", "label"], ["1", "up"], ["2", "down"],
                                                               ["4", "side"]]


def test_a_text_may_stand_in_the_place_of_a_file(folder, capsys):
    code, out, err = said(capsys, "predict", folder / "run", "rising and tall", "--json")
    found = json.loads(out)
    assert (code, err, found["file"]) == (0, "", "the text") and len(found["texts"]) == 1
    assert found["texts"][0]["labels"][0]["label"] == "up"
    _, out, err = said(capsys, "predict", folder / "run", "low")
    assert "low: no file or built-in corpus has that name; it is read as a text." in err and "down" in out


def test_a_table_needs_no_labels(folder, capsys):
    _, out, _ = said(capsys, "predict", folder / "run", folder / "new.csv", "--json")
    assert [(row["line"], row["labels"][0]["label"]) for row in json.loads(out)["texts"]] == [(2, "down"), (3, "up")]


def test_figures_of_an_evaluation_are_shown_by_label(folder, capsys):
    code, out, _ = said(capsys, "evaluate", folder / "run", "--data", folder / "train.txt")
    assert code == 0 and "accuracy           1.0000 (0.9398 to 1.0000)" in out
    assert [line.split()[:4] for line in out.splitlines()[-3:]] == [[name, "20", "20", "20"]
                                                                    for name in ("down", "side", "up")]


def test_a_quantized_run_says_its_size(folder, capsys):
    code, out, _ = said(capsys, "quantize", folder / "run", "--out", folder / "small")
    assert code == 0 and "bytes, no smaller than" in out and "6 of 6 features" in out
    code, _, err = said(capsys, "quantize", folder / "run", "--out", folder / "small")
    assert code == 1 and "there is a run already" in err
    again = "--out", folder / "small", "--force", "--cutoff", 3, "--json"
    _, out, _ = said(capsys, "quantize", folder / "run", *again)
    assert json.loads(out)["features"] == 3


@pytest.mark.parametrize(("args", "message"), [
    (["generate", "RUN", "--prompt", "a"], "holds a classifier; generate needs a language model."),
    (["neighbors", "RUN", "a"], "holds a classifier; neighbors needs word vectors."),
    (["evaluate", "RUN", "--data", "TRAIN", "--by-order"], "--by-order needs a language model."),
    (["predict", "RUN", "nothing.txt"], "nothing.txt: no such file"),
    (["quantize", "RUN", "--out", "OUT", "--piece", "9"], "--piece = 9, expected 1 to the dimension, 8."),
])
def test_a_mistake_is_one_line(folder, capsys, args, message):
    names = {"RUN": folder / "run", "TRAIN": folder / "train.txt", "OUT": folder / "none"}
    code, out, err = said(capsys, *(names.get(word, word) for word in args))
    assert code in (1, 2) and not out and message in err and err.count("\n") == 1


def test_a_threshold_and_text_options_can_be_given(folder, capsys):
    (folder / "odd.txt").write_bytes(b"rising \xe9\n")
    code, _, err = said(capsys, "predict", folder / "run", folder / "odd.txt")
    assert code == 1 and "text.errors=replace" in err
    code, out, _ = said(capsys, "predict", folder / "run", folder / "odd.txt", "text.errors=replace", "--top", 9,
                        "--threshold", 0.3, "--json")
    assert code == 0 and [each["label"] for each in json.loads(out)["texts"][0]["labels"]] == ["up"]
    code, out, _ = said(capsys, "predict", folder / "run", folder / "new.txt", "--threshold", 1)
    assert code == 0 and len(out.splitlines()) == 4


def test_texts_may_have_fewer_labels_above_the_threshold_than_others(folder, capsys):
    (folder / "unsure.txt").write_text("rising tall\nrising low left falling\n")
    code, out, _ = said(capsys, "predict", folder / "run", folder / "unsure.txt", "--top", 3, "--threshold", 0.9)
    assert code == 0 and [line.split()[:2] for line in out.splitlines()[1:]] == [["1", "up"], ["2", "(out"]]
    assert "(out of scope)  < 0.9000" in out


def test_precision_and_recall_are_shown_only_where_they_differ_from_accuracy(folder, capsys):
    _, out, _ = said(capsys, "evaluate", folder / "run", "--data", folder / "train.txt")
    assert "precision" not in out.partition("label  ")[0] and "accuracy" in out
    (folder / "several.txt").write_text("__label__up __label__side rising left\n__label__down low\n")
    _, out, _ = said(capsys, "evaluate", folder / "run", "--data", folder / "several.txt")
    assert "precision" in out.partition("label  ")[0]
    _, out, _ = said(capsys, "evaluate", folder / "run", "--data", folder / "train.txt", "--json")
    assert json.loads(out)["precision"] == json.loads(out)["recall"] == 1
    data, out = str(folder / "train.txt"), str(folder / "again")
    code, shown, err = said(capsys, "train", "text-classifier", "--data", data, "--valid", data, "--out", out, *WORDS)
    assert code == 0 and "epoch 1: accuracy 1.0000 on 60 texts." in err and "precision" not in err + shown


def test_autotune_is_an_option_of_train(folder, capsys):
    args = ["--data", str(folder / "train.txt"), "--valid", str(folder / "train.txt")]
    code, out, err = said(capsys, "train", "text-classifier", *args, "--out", folder / "tuned", *WORDS, "--autotune",
                          "2trials")
    assert code == 0 and "trial 2: accuracy" in err and "trials 2, best" in out
    code, _, err = said(capsys, "train", "ngram", *args, "--out", folder / "no", "--autotune", "60s")
    assert code == 2 and "training" in err and not (folder / "no").exists()


def test_a_check_says_that_texts_are_labeled(folder, capsys):
    (folder / "data.json").write_text(json.dumps({"train": [["a b", "x"], ["c", "y"]], "test": [["a", "x"]]}))
    for name, parts in (("train.txt", {"train.txt": {"texts": 60, "labels": 3}}), ("new.csv", None), ("new.txt", None),
                        ("data.json", {"data.json:train": {"texts": 2, "labels": 2},
                                       "data.json:test": {"texts": 1, "labels": 1}})):
        code, out, _ = said(capsys, "data", "check", folder / name, "--json")
        found = json.loads(out)["labeled"]
        assert code == 0 and (found and {key.split("/")[-1]: value for key, value in found["parts"].items()}) == parts
    _, out, _ = said(capsys, "data", "check", folder / "data.json")
    assert "2 texts, 2 labels" in out and "chainrule train text-classifier --data " in out
