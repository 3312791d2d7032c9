"""Why a classifier decided: words left out one by one, shares that add up, confusions by their definition."""

import math

import pytest

import chainrule
from chainrule.errors import DataError, UsageError
from chainrule.inspection.confusions import confusions
from chainrule.inspection.decisions import explain


@pytest.fixture(scope="module")
def run(kinds_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("decisions") / "run"
    chainrule.train("text-classifier", kinds_folder / "train.txt", out, overrides=[
        "model.dimension=8", "model.word_ngrams=2", "model.bucket=5000", "training.epochs=10", "training.threads=1"])
    return chainrule.load(out)


@pytest.fixture(scope="module")
def text(kinds_folder):
    return (kinds_folder / "test.txt").read_text().splitlines()[0].split(" ", 1)[1]


def test_leaving_a_word_out_is_asking_the_model_without_it(run, text):
    [found] = explain(run, [text])["texts"]
    words, label = text.split(), run.model.labels.index(found["label"])
    whole = float(run.model.log_probabilities([text])[0, label])
    for n, token in enumerate(found["tokens"]):
        rest = " ".join([*words[:n], *words[n + 1:]])
        assert token["text"] == words[n]
        assert token["without"] == pytest.approx(whole - float(run.model.log_probabilities([rest])[0, label]), abs=1e-5)


def test_the_words_and_the_end_add_up_to_the_margin(run, text):
    [found] = explain(run, [text])["texts"]
    assert sum(token["adds"] for token in found["tokens"]) + found["end"] == pytest.approx(found["margin"], abs=1e-4)
    assert sum(row["adds"] for row in found["features"]) == pytest.approx(found["margin"], abs=1e-4)
    sizes = [abs(row["adds"]) for row in found["features"]]
    assert sizes == sorted(sizes, reverse=True) and {row["kind"] for row in found["features"]} == {"word", "words"}
    assert found["margin"] == pytest.approx(found["labels"][0]["log_probability"]
                                            - found["labels"][1]["log_probability"], abs=1e-6)


def test_probabilities_come_likeliest_first_and_one_word_cannot_be_left_out(run):
    [found] = explain(run, ["word"], top=1)["texts"]
    assert len(found["labels"]) == 1 and found["tokens"][0]["without"] is None
    assert found["labels"][0]["probability"] == pytest.approx(math.exp(found["labels"][0]["log_probability"]))


def test_a_text_without_words_is_refused(run):
    with pytest.raises(DataError, match="the text has no words"):
        explain(run, ["  "])


def test_confusions_are_counted_as_evaluate_counts_hits(run, kinds_folder):
    found = confusions(run, kinds_folder / "test.csv")
    measured = chainrule.evaluate(run, kinds_folder / "test.csv")
    assert found["accuracy"] == pytest.approx(measured["accuracy"]) and found["texts"] == measured["examples"]
    for n, label in enumerate(found["labels"]):
        assert sum(found["matrix"][n]) == measured["per_label"][label]["count"]
        assert sum(row[n] for row in found["matrix"]) == measured["per_label"][label]["predicted"]
    assert sum(pair["count"] for pair in found["pairs"]) == found["texts"] - found["right"]


def test_the_most_wrong_texts_are_those_whose_label_was_least_likely(run, kinds_folder, tmp_path):
    lines = (kinds_folder / "test.txt").read_text().splitlines()
    label, text = lines[0].split(" ", 1)
    other = next(each for each in run.model.labels if f"__label__{each}" != label)
    (tmp_path / "wrong.txt").write_text(f"{lines[0]}\n__label__{other} {text}\n__label__never {text}\n")
    found = confusions(run, tmp_path / "wrong.txt", wrong=2)
    assert [(row["line"], row["labels"]) for row in found["wrong"]] == [(3, ["never"]), (2, [other])]
    assert found["wrong"][0]["log_probability"] is None and found["wrong"][1]["log_probability"] < -0.1


def test_other_models_say_what_they_are(kinds, tmp_path):
    chainrule.train("ngram", kinds, tmp_path / "run", overrides=["model.order=2"])
    with pytest.raises(UsageError, match="holds a language model; inspect needs a classifier"):
        explain(tmp_path / "run", ["a text"])
