"""Neural classifiers: learned from labeled texts of every form, calibrated, begun with an encoder of another run."""

import json

import numpy as np
import pytest

import chainrule
from chainrule.errors import ChainruleError, DataError, OptionError, UsageError
from chainrule.storage.tensors import open_tensors

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
GOOD, BAD = ["fine", "lovely", "bright", "warm"], ["dull", "cold", "grim", "slow"]
TINY = ["model.width=16", "model.context=24", "training.batch=16", "training.budget.epochs=12",
        "training.optimizer.rate=0.02", "model.dropout.rate=0.1"]


def texts(count, seed):
    draw = np.random.default_rng(seed)
    for _ in range(count):
        words = GOOD if draw.random() < 0.5 else BAD
        filler = draw.choice(["the", "film", "was", "a", "story"], draw.integers(2, 6)).tolist()
        yield ("good" if words is GOOD else "bad"), " ".join([*filler, str(draw.choice(words)), *filler[:2]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classification")
    for name, count in (("train", 160), ("dev", 60), ("test", 80)):
        rows = list(texts(count, len(name)))
        (folder / f"{name}.csv").write_text("﻿label,text\n" + "".join(f"{label},{text}\n" for label, text in rows))
        (folder / f"{name}.txt").write_text("".join(f"__label__{label} {text}\n" for label, text in rows))
    chainrule.train("kim-cnn", folder / "train.csv", folder / "run", valid=folder / "dev.csv", overrides=[
        *TINY, "model.pooling.filters=8"])
    return folder


@pytest.mark.parametrize("recipe", ["bag-classifier", "lstm-classifier", "transformer-classifier"])
def test_every_recipe_learns_the_words_that_matter(recipe, folder, tmp_path):
    chainrule.train(recipe, folder / "train.txt", tmp_path / "run", valid=folder / "dev.txt", overrides=TINY)
    assert chainrule.evaluate(tmp_path / "run", folder / "test.csv")["accuracy"] > 0.9


@pytest.mark.parametrize("pooling", ["mean", "max", "last", "first", "attention", "convolutions"])
def test_every_pooling_learns(pooling, folder, tmp_path):
    chainrule.train("lstm-classifier", folder / "train.csv", tmp_path / "run", overrides=[
        *TINY, f"model.pooling={pooling}", "training.patience=null"])
    assert chainrule.evaluate(tmp_path / "run", folder / "test.csv")["accuracy"] > 0.9


def test_figures_have_intervals_calibration_and_mistakes(folder):
    found = chainrule.evaluate(folder / "run", folder / "test.csv", bootstrap=200)
    assert found["accuracy"] > 0.9 and 0 <= found["calibration_error"] < 0.3
    for name in ("accuracy", "macro_f1"):
        low, high = found["interval"][name]
        assert low <= found[name] <= high
    wrong = round((1 - found["accuracy"]) * found["examples"])
    assert sum(row["count"] for row in found["confusions"]) == wrong and len(found["most_wrong"]) == min(10, wrong)


def test_the_temperature_is_fitted_on_validation_texts_and_used(folder):
    run = chainrule.load(folder / "run")
    known = json.loads((folder / "run" / "known.json").read_text())
    assert known["labels"] == ["bad", "good"] and run.model.temperature == known["temperature"] != 1.0
    plain = run.model.log_p_of(run.model.encoded(["a fine film"]))
    warm = run.model.log_probabilities(["a fine film"])
    scaled = plain / known["temperature"]
    np.testing.assert_allclose(warm, scaled - np.log(np.exp(scaled).sum()), atol=1e-5)


def test_padding_and_neighbors_do_not_change_a_prediction(folder):
    model = chainrule.load(folder / "run").model
    some = ["fine", "a very long and dull story " * 3, "a cold film", ""]
    together = model.probabilities(some)
    for text, row in zip(some, together, strict=True):
        np.testing.assert_allclose(model.probabilities([text])[0], row, atol=1e-5)
    assert np.allclose(together.sum(1), 1)


def test_a_folder_of_classes_is_read_as_a_table_is(folder, tmp_path):
    for number, line in enumerate((folder / "train.csv").read_text(encoding="utf-8-sig").splitlines()[1:]):
        label, text = line.split(",")
        (tmp_path / "data" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / label / f"{number:03d}.txt").write_text(text + "\n")
    found = chainrule.evaluate(folder / "run", tmp_path / "data", bootstrap=0)
    assert found["examples"] == 160
    (tmp_path / "data" / "bad" / "empty.txt").write_text("\n")
    with pytest.raises(DataError, match=r"bad/empty.txt: an empty file, expected a text. Leave it out"):
        chainrule.evaluate(folder / "run", tmp_path / "data")


def test_several_labels_need_a_head_for_several(tmp_path):
    rows = "".join(f"{label};b,{text}\n" for label, text in texts(40, 1))
    (tmp_path / "a.csv").write_text("label,text\n" + rows)
    with pytest.raises(DataError, match=r"a.csv: line 2: 2 labels \(.*, b\), expected one.*model.head=independent"):
        chainrule.train("bag-classifier", tmp_path / "a.csv", tmp_path / "x", overrides=["task.separator=;"])
    chainrule.train("bag-classifier", tmp_path / "a.csv", tmp_path / "run", overrides=[
        *TINY, "task.separator=;", "model.head=independent", "training.patience=null"])
    model = chainrule.load(tmp_path / "run").model
    p = dict(zip(model.labels, model.probabilities(["a fine film"])[0], strict=True))
    assert p["b"] > 0.9 and p["good"] > 0.5 > p["bad"]


def test_awkward_tables_work_or_are_one_line(folder, tmp_path):
    """A byte-order mark, an empty row, a label seen once, a class that the test lacks, a label that training lacks."""
    (tmp_path / "a.csv").write_text("﻿text,label\nfine film,good\n\ndull film,bad\nodd film,rare\n" * 1)
    chainrule.train("bag-classifier", tmp_path / "a.csv", tmp_path / "run", overrides=[*TINY, "training.patience=null"])
    (tmp_path / "b.csv").write_text("text,label\nfine film,good\nnew film,unseen\n")
    found = chainrule.evaluate(tmp_path / "run", tmp_path / "b.csv", bootstrap=0)
    assert found["unknown_labels"] == 1 and found["examples"] == 2 and found["per_label"]["rare"]["count"] == 0
    (tmp_path / "c.csv").write_text("text,label\nfine film,\n")
    with pytest.raises(DataError, match=r"c.csv: line 2: no label, expected one in the field 'label' \(task.labels\)"):
        chainrule.evaluate(tmp_path / "run", tmp_path / "c.csv")


def test_texts_that_all_have_one_label_are_refused(tmp_path):
    (tmp_path / "same.csv").write_text("label,text\ngood,one\ngood,two\n")
    with pytest.raises(DataError, match="same.csv: all 2 texts have the label 'good', expected at least two labels"):
        chainrule.train("bag-classifier", tmp_path / "same.csv", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_network_that_does_not_pool_is_refused(folder, tmp_path):
    with pytest.raises(OptionError, match=r"model.pooling = None, expected mean, max, last or another pooling"):
        chainrule.train("bag-classifier", folder / "train.csv", tmp_path / "run", overrides=["model.pooling=null"])


@pytest.fixture(scope="module")
def encoders(tmp_path_factory, folder):
    where = tmp_path_factory.mktemp("encoders")
    (where / "text.txt").write_text("".join(line.split(" ", 1)[1] for line in (folder / "train.txt").open()))
    small = ["model.width=16", "model.context=24", "training.budget.steps=20", "training.batch=8",
             "tokenizer=plain_words"]
    chainrule.train("lstm", where / "text.txt", where / "lm", overrides=small)
    chainrule.train("bert-small", where / "text.txt", where / "masked", overrides=small)
    return where


@pytest.mark.parametrize(("recipe", "run", "causal"), [("lstm-classifier", "lm", True),
                                                       ("transformer-classifier", "masked", False)])
def test_an_encoder_is_taken_over_and_stays_as_it_was_while_frozen(recipe, run, causal, folder, encoders, tmp_path):
    chainrule.train(recipe, folder / "train.csv", tmp_path / "run", valid=folder / "dev.csv", overrides=[
        f"model.from={encoders / run}", "training.unfreeze=none", "training.budget.epochs=2", "training.batch=16"])
    before, after = (open_tensors(each / "model.safetensors") for each in (encoders / run, tmp_path / "run"))
    taken = [name for name in after if name.startswith(("sublayers", "embedding"))]
    assert len(taken) > 3
    for name in taken:
        np.testing.assert_array_equal(after[name], before[name][:len(after[name])])
    loaded = chainrule.load(tmp_path / "run")
    assert loaded.recipe.model.causal is causal and loaded.recipe.start_from.part == "encoder"
    assert (tmp_path / "run" / "tokenizer.json").read_text() == (encoders / run / "tokenizer.json").read_text()


def test_sublayers_thaw_one_by_one_from_the_top(folder, encoders, tmp_path):
    how = [f"model.from={encoders / 'lm'}", "training.unfreeze=gradual", "training.batch=16", "training.patience=null",
           "training.layer_decay=0.5"]
    before = open_tensors(encoders / "lm" / "model.safetensors")
    for epochs, changed in ((1, set()), (2, {"1"}), (3, {"0", "1"}), (4, {"0", "1", "e"})):
        run = tmp_path / str(epochs)
        chainrule.train("lstm-classifier", folder / "train.csv", run, overrides=[
            *how, f"training.budget.epochs={epochs}"])
        after = open_tensors(run / "model.safetensors")
        found = {name.split(".")[1] if name.startswith("sub") else "e" for name in after
                 if name.startswith(("sublayers", "embedding")) and not np.array_equal(after[name], before[name])}
        assert found == changed, epochs


def test_what_cannot_be_taken_over_is_said(folder, encoders, tmp_path):
    with pytest.raises(OptionError, match=r"task.name = 'classification', expected 'language'.*model.from="):
        chainrule.train("lstm-classifier", folder / "train.csv", tmp_path / "run", start_from=encoders / "lm")
    with pytest.raises(UsageError, match="are both given, expected one: a training goes on from a run, or takes its"):
        chainrule.train("lstm-classifier", folder / "train.csv", tmp_path / "run", start_from=encoders / "lm",
                        overrides=[f"model.from={encoders / 'lm'}"])
    with pytest.raises(ChainruleError, match="nowhere"):
        chainrule.train("lstm-classifier", folder / "train.csv", tmp_path / "run", overrides=["model.from=nowhere"])


@pytest.mark.parametrize(("channels", "moves"), [("static", False), ("tuned", True), ("both", True)])
def test_a_classifier_begins_with_word_vectors(channels, moves, folder, encoders, tmp_path):
    vectors = {word: np.random.default_rng(n).normal(size=8) for n, word in enumerate([*GOOD, *BAD, "film"])}
    (tmp_path / "v.txt").write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in vectors.items()))
    chainrule.train("kim-cnn", folder / "train.csv", tmp_path / "run", overrides=[
        *TINY, "model.width=8", "model.embedding=word_vectors", f"model.embedding.vectors={tmp_path / 'v.txt'}",
        f"model.embedding.channels={channels}", "training.budget.epochs=2", "training.patience=null"])
    run = chainrule.load(tmp_path / "run")
    row = run.tokenizer.encode("film")[0]
    weights = open_tensors(tmp_path / "run" / "model.safetensors")
    assert np.allclose(weights["embedding.weight"][row], vectors["film"], atol=1e-6) is not moves
    assert ("embedding.static" in weights) == (channels == "both")
    with pytest.raises(OptionError, match=r"model.width = 16, expected 8, as the vectors of"):
        chainrule.train("kim-cnn", folder / "train.csv", tmp_path / "other", overrides=[
            *TINY, "model.embedding=word_vectors", f"model.embedding.vectors={tmp_path / 'v.txt'}"])
