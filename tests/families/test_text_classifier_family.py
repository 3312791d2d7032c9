"""The text classifier from the command's point of view: runs, predictions, quantization, seeds, mistakes."""

import json
import os
import signal

import numpy as np
import pytest

import chainrule
from chainrule.classifying.features import Shape
from chainrule.classifying.fitting import Fitting
from chainrule.classifying.learning import fresh, learn
from chainrule.classifying.targets import Targets
from chainrule.classifying.vocabulary import learn_features
from chainrule.errors import DataError, OptionError, UsageError
from chainrule.vectors.training_options import TrainingOptions

QUICK = ["model.dimension=10", "training.lr=1.0", "training.threads=1"]
LOSSES = ["softmax", "hierarchical_softmax", "one_vs_all", "negative_sampling"]


@pytest.fixture(scope="module")
def trained(kinds_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("classifier") / "run"
    chainrule.train("text-classifier", kinds_folder / "train.txt", out, overrides=[*QUICK, "model.word_ngrams=2"])
    return chainrule.load(out)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ending", ["txt", "csv", "tsv"])
def test_a_classifier_learns_its_labels(ending, loss, kinds_folder, tmp_path):
    report = chainrule.train("text-classifier", kinds_folder / f"train.{ending}", tmp_path / "run",
                             overrides=[*QUICK, f"model.loss={loss}"])
    assert report["labels"] == 2 and report["texts"] == 400
    found = chainrule.evaluate(tmp_path / "run", kinds_folder / f"test.{ending}")
    assert found["accuracy"] == found["precision"] == found["recall"] > 0.85
    assert found["examples"] == 100 and sum(row["correct"] for row in found["per_label"].values()) == round(
        100 * found["accuracy"])
    best = chainrule.predict(tmp_path / "run", ["the horse is old", "the hammer is old"], top=2)
    assert [row[0][0] for row in best] == ["beast", "tool"] and all(len(row) == 2 for row in best)


@pytest.mark.parametrize("loss", LOSSES[:2])
def test_probabilities_of_a_run_sum_to_one(loss, kinds_folder, tmp_path):
    chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run", overrides=[
        *QUICK, f"model.loss={loss}", "model.word_ngrams=2", "model.min_n=2", "model.max_n=3", "model.bucket=500"])
    chances = chainrule.load(tmp_path / "run").model.probabilities(["the horse", "", "日本語 unseen", "a\nb"])
    np.testing.assert_allclose(chances.sum(1), 1, atol=1e-6)
    assert chances.shape == (4, 2)


def test_many_texts_at_once_are_predicted_as_one_by_one(trained, monkeypatch):
    texts = [f"the {noun} is {n}" for noun in ("horse", "saw", "unseen") for n in range(30)]
    one_by_one = trained.model.probabilities(texts)
    for name in ("features", "model"):
        monkeypatch.setattr(f"chainrule.classifying.{name}.JIT_PAYS_FROM", 0)
    monkeypatch.setattr("chainrule.classifying.spelling.BLOCK", 300)
    np.testing.assert_allclose(trained.model.probabilities(texts), one_by_one, atol=1e-6)


def test_a_quantized_run_predicts_nearly_the_same(kinds_folder, tmp_path):
    chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "large", overrides=[
        *QUICK, "model.dimension=32", "model.word_ngrams=5", "model.min_n=2", "model.max_n=5"])
    trained = chainrule.load(tmp_path / "large")
    done = chainrule.quantize(trained, tmp_path / "small")
    small = chainrule.load(tmp_path / "small")
    assert done["bytes"] == sum(each.stat().st_size for each in (tmp_path / "small").iterdir())
    assert small.recipe.model.quantized and (tmp_path / "small" / "model.safetensors").stat().st_size < (
        trained.path / "model.safetensors").stat().st_size
    texts = [line.partition(" ")[2] for line in (kinds_folder / "test.txt").read_text().splitlines()]
    np.testing.assert_allclose(small.model.probabilities(texts), trained.model.probabilities(texts), atol=0.05)
    assert trained.model.features.rows > 1000  # more than there are centroids: rows are not kept exactly
    with pytest.raises(OptionError, match="quantized already"):
        chainrule.quantize(small, tmp_path / "smaller")


def test_a_cutoff_keeps_what_matters(trained, kinds_folder, tmp_path):
    done = chainrule.quantize(trained, tmp_path / "tiny", cutoff=40)
    assert done["features"] == 40 < done["features_before"]
    tiny = chainrule.load(tmp_path / "tiny")
    assert tiny.model.features.rows == len(tiny.model.inputs) == 40
    assert chainrule.evaluate(tiny, kinds_folder / "test.txt")["accuracy"] > 0.85


def test_one_thread_and_a_seed_give_the_same_bytes(kinds_folder, tmp_path):
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / name,
                        overrides=[*QUICK, f"seed={seed}", "model.word_ngrams=2"])
    one, same, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "same", "other"))
    assert one == same and one != other


def test_many_threads_learn_as_well(kinds_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("chainrule.classifying.learning.CHUNK", 100)
    chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run",
                    overrides=[*QUICK[:2], "training.threads=3"])
    assert chainrule.evaluate(tmp_path / "run", kinds_folder / "test.txt")["accuracy"] > 0.85


def test_a_file_that_is_sorted_by_label_does_no_harm(kinds_folder, tmp_path):
    lines = sorted((kinds_folder / "train.txt").read_text().splitlines(keepends=True))
    (tmp_path / "sorted.txt").write_text("".join(lines))
    chainrule.train("text-classifier", tmp_path / "sorted.txt", tmp_path / "run", overrides=QUICK)
    assert chainrule.evaluate(tmp_path / "run", kinds_folder / "test.txt")["accuracy"] > 0.85


def test_several_labels_are_measured_by_precision_and_recall(tmp_path):
    (tmp_path / "both.txt").write_text("__label__red __label__round apple\n__label__round ball\n" * 50)
    chainrule.train("text-classifier", tmp_path / "both.txt", tmp_path / "run",
                    overrides=[*QUICK, "model.loss=one_vs_all", "training.epochs=20"])
    model = chainrule.load(tmp_path / "run").model
    chances = model.probabilities(["apple", "ball"])[:, [model.labels.index("red"), model.labels.index("round")]]
    assert (chances[0] > 0.7).all() and chances[1, 0] < 0.3
    (tmp_path / "test.txt").write_text("__label__red __label__round apple\n__label__green ball\n")
    found = chainrule.evaluate(tmp_path / "run", tmp_path / "test.txt")
    assert (found["precision"], found["recall"], found["unknown_labels"]) == (0.5, 1 / 3, 1)


def test_the_same_accuracy_and_labels_as_fasttext(kinds_folder, trained):
    fasttext = pytest.importorskip("fasttext")
    peer = fasttext.train_supervised(str(kinds_folder / "train.txt"), lr=1.0, dim=10, wordNgrams=2, thread=1, verbose=0)
    _, precision, recall = peer.test(str(kinds_folder / "test.txt"))
    found = chainrule.evaluate(trained, kinds_folder / "test.txt")
    assert abs(found["precision"] - precision) <= 0.03 and found["recall"] == found["precision"]


@pytest.mark.parametrize(("text", "overrides", "error", "message"), [
    ("__label__x one\n__label__x two\n", [], DataError, "a.txt: only one label, 'x', expected at least 2"),
    ("\n\n", [], DataError, "a.txt: no text with a label"),
    ("__label__x one\n__label__y two\n", ["model.min_n=3", "model.max_n=2"], OptionError, "model.min_n = 3, exp"),
    ("__label__x one\n__label__y two\n", ["tokenizer.name=bytes"], OptionError, "tokenizer.name = 'bytes', expected"),
    ("__label__x one\n__label__y two\n", ["training.autotune=9"], UsageError, "training.autotune = 9, expected text"),
    ("__label__x one\n__label__y two\n", ["training.autotune=9x"], OptionError, "autotune = '9x', expected a time"),
    ("__label__x one\n__label__y two\n", ["training.autotune=9s"], DataError, "a.txt: no texts could be held"),
    ("__label__x one\n__label__y two\n", ["model.quantized=true"], OptionError, "Train first, then: chainrule"),
    ("__label__x one\n__label__y two\n", ["model.min_n=3"], OptionError, "model.max_n = 0, expected at least model"),
    ("__label__x one\n__label__y two\n", ["tokenizer.min_count=9"], DataError, "a.txt: no word occurs as often as"),
    ("__label__x one\n__label__y two\n", ["tokenizer.min_count=0"], OptionError, "min_count = 0, expected at least 1"),
    ("__label__x one\n__label__y two\n", ["tokenizer.size=-1"], OptionError, "size = -1, expected at least 1"),
])
def test_a_text_that_cannot_be_learned_from_is_one_clear_line(tmp_path, text, overrides, error, message):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(error, match=message) as caught:
        chainrule.train("text-classifier", tmp_path / "a.txt", tmp_path / "run", overrides=overrides)
    assert "\n" not in str(caught.value) and not (tmp_path / "run").exists()


def test_verbs_of_other_models_say_what_the_run_holds(trained, tmp_path):
    for verb in (lambda: chainrule.generate(trained), lambda: chainrule.score(trained, ["a"]),
                 lambda: chainrule.inspect(trained, "pydoc"), lambda: trained.vectors):
        with pytest.raises(UsageError, match="holds a classifier; .* needs"):
            verb()
    (tmp_path / "text.txt").write_text("a b c\n")
    chainrule.train("ngram", tmp_path / "text.txt", tmp_path / "ngram", overrides=["model.order=2"])
    with pytest.raises(UsageError, match="holds a language model; predict needs a classifier"):
        chainrule.predict(tmp_path / "ngram", ["a"])


def test_validation_is_recorded_after_each_pass(kinds_folder, tmp_path, caplog):
    with caplog.at_level("INFO", "chainrule"):
        report = chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run",
                                 valid=kinds_folder / "test.csv", overrides=[*QUICK, "training.epochs=3"])
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2, 3] and rows[-1] == {"epoch": 3, **report["valid"]}
    found = chainrule.evaluate(tmp_path / "run", kinds_folder / "test.csv")
    assert report["valid"] == {key: found[key] for key in report["valid"]}
    assert f"epoch 3: accuracy {found['accuracy']:.4f}" in caplog.text
    chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "same",
                    overrides=[*QUICK, "training.epochs=3", "training.patience=null"])
    one, same = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("run", "same"))
    assert one == same  # looking changes nothing


def test_training_ends_on_a_plateau(kinds_folder, tmp_path):
    for name in ("run", "same"):
        report = chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / name,
                                 valid=kinds_folder / "test.txt", overrides=QUICK)
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert report["epochs"] == len(rows) < 50 and "advice" not in report and "held_out" not in report
    assert report["valid"] == {key: value for key, value in rows[report["epoch"] - 1].items() if key != "epoch"}
    assert report["valid"]["accuracy"] == chainrule.evaluate(tmp_path / "run", kinds_folder / "test.txt")["accuracy"]
    one, same = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("run", "same"))
    assert one == same


def test_without_validation_texts_some_are_held_out(kinds_folder, tmp_path, caplog):
    with caplog.at_level("INFO", "chainrule"):
        report = chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run", overrides=QUICK)
    assert report["texts"] == 400 and report["held_out"] == report["valid"]["examples"] == 40
    assert "40 of 400 texts are held out to see when to stop" in caplog.text
    report = chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "all",
                             overrides=[*QUICK, "training.held_out=0", "training.epochs=2"])
    assert not {"valid", "held_out", "threshold", "epochs"} & set(report)


def test_a_bound_that_ends_training_too_early_is_said(kinds_folder, tmp_path):
    report = chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run", overrides=[
        *QUICK, "training.lr=0.3", "training.epochs=2"])
    assert len(report["advice"]) == 1 and report["advice"][0].startswith("still improving: in the last epoch of 2 ")
    assert report["advice"][0].endswith("Try training.epochs=8.")


def test_the_calibrated_threshold_rejects_texts_about_something_else(kinds_folder, tmp_path):
    report = chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run",
                             valid=kinds_folder / "test.txt", overrides=QUICK)
    run = chainrule.load(tmp_path / "run")
    (tmp_path / "both.txt").write_text((kinds_folder / "test.txt").read_text() + "__label__moon xyzzy plugh\n" * 7)
    found = chainrule.evaluate(run, tmp_path / "both.txt", threshold="auto")
    plain = chainrule.evaluate(run, kinds_folder / "test.txt")
    right = round(100 * plain["accuracy"])
    assert found["threshold"] == report["threshold"] > 0.5
    assert (found["out_of_scope"], found["out_of_scope_rejected"], found["unknown_labels"]) == (7, 7, 7)
    kept = sum(row["correct"] for row in found["per_label"].values())
    assert 0 <= right - kept <= 0.05 * right and found["accuracy"] == (kept + 7) / 107
    assert found["precision"] == kept / (107 - found["rejected"])
    assert chainrule.predict(run, ["xyzzy plugh", "the horse is old"], threshold="auto")[0] == []
    chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "blind",
                    overrides=[*QUICK, "training.held_out=0", "training.epochs=2"])
    with pytest.raises(UsageError, match="no threshold was calibrated, since it was trained without validation texts"):
        chainrule.predict(tmp_path / "blind", ["a"], threshold="auto")
    for wrong in (1.5, "most"):
        with pytest.raises(OptionError, match="threshold = .*, expected a probability from 0 to 1, or auto"):
            chainrule.evaluate(run, tmp_path / "both.txt", threshold=wrong)


TUNE = ["model.dimension=10", "training.threads=1", "training.epochs=4", "training.autotune=4trials"]


def test_autotune_chooses_the_best_trial_and_its_recipe_makes_the_run_again(kinds_folder, tmp_path, caplog):
    with caplog.at_level("INFO", "chainrule"):
        report = chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run", overrides=TUNE)
    trials = [json.loads(line) for line in (tmp_path / "run" / "trials.jsonl").read_text().splitlines()]
    assert [row["trial"] for row in trials] == [1, 2, 3, 4] and "trial 4: accuracy" in caplog.text
    best = max(trials, key=lambda row: (row["accuracy"], -row["log_loss"]))
    assert report["autotune"] == {"trials": 4, "best": best["trial"]}
    assert report["valid"]["accuracy"] == best["accuracy"]
    recipe = chainrule.load(tmp_path / "run").recipe
    assert recipe.training.autotune is None
    for path, value in best.items():
        if "." in path:
            assert getattr(getattr(recipe, path.split(".")[0]), path.split(".")[1]) == value
    chainrule.train(tmp_path / "run" / "recipe.yaml", kinds_folder / "train.txt", tmp_path / "again")
    one, again = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("run", "again"))
    assert one == again


@pytest.mark.parametrize("trial", [1, 3])
def test_ctrl_c_keeps_the_best_trial_so_far(trial, kinds_folder, tmp_path, caplog, monkeypatch):
    began = []

    def fit(self, *given):
        began.append(True)
        if len(began) == trial:
            os.kill(os.getpid(), signal.SIGINT)
        return plain(self, *given)

    plain = Fitting.fit
    monkeypatch.setattr(Fitting, "fit", fit)
    caplog.set_level("INFO", "chainrule")
    if trial == 1:
        with pytest.raises(KeyboardInterrupt):
            chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run", overrides=TUNE)
        assert "interrupted: nothing is saved." in caplog.text and not (tmp_path / "run").exists()
    else:
        report = chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run", overrides=TUNE)
        assert report["autotune"]["trials"] == 2 and "the best trial so far is kept" in caplog.text
        assert chainrule.evaluate(tmp_path / "run", kinds_folder / "test.txt")["accuracy"] > 0.8


def test_whole_texts_are_set_aside(kinds_folder, tmp_path):
    report = chainrule.train("text-classifier", kinds_folder / "train.csv", tmp_path / "run",
                             overrides=[*QUICK, "split.valid=0.25"])
    assert report["texts"] == 300 and report["valid"]["examples"] == 100 and report["valid"]["accuracy"] > 0.8


def test_labels_below_a_threshold_are_left_out(trained):
    all_of_them, sure = (chainrule.predict(trained, ["the horse is old"], top=9, threshold=least)[0]
                         for least in (0, 0.5))
    assert len(all_of_them) == 2 and [label for label, _ in sure] == ["beast"]
    assert chainrule.predict(trained, ["the horse is old"], threshold=1.0) == [[]]


def test_a_too_large_learning_rate_is_one_clear_line(kinds_folder, tmp_path):
    for loss in LOSSES[:2]:
        with pytest.raises(OptionError, match=r"training.lr = 1e\+30, expected a smaller learning rate.*lr=1e\+29"):
            chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run",
                            overrides=["training.lr=1e30", f"model.loss={loss}", "training.threads=1"])
    assert not (tmp_path / "run").exists()


def test_the_short_names_of_losses_are_understood(kinds_folder, tmp_path):
    chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run",
                    overrides=[*QUICK, "model.loss=hs"])
    assert chainrule.load(tmp_path / "run").model.loss == "hierarchical_softmax"


def test_text_options_can_be_changed_for_evaluate_and_predict(trained, kinds_folder, tmp_path):
    (tmp_path / "odd.txt").write_bytes(b"__label__beast the horse \xe9\n")
    with pytest.raises(DataError, match="text.errors=replace"):
        chainrule.evaluate(trained, tmp_path / "odd.txt")
    assert chainrule.evaluate(trained, tmp_path / "odd.txt", overrides=["text.errors=replace"])["accuracy"] == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_all_threads(threads):
    """A hundred million passes would take hours."""
    _, bags, _ = learn_features([b"a b", b"b c"] * 500, Shape(), min_count=1, size=None)
    targets = Targets(np.arange(1001), np.tile(np.array([0, 1], np.int32), 500), np.array([500, 500]))
    pressed = []

    def show(facts):
        if not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    options = TrainingOptions(dimension=8, epochs=100_000_000, threads=threads, show=show)
    with pytest.raises(KeyboardInterrupt):
        learn(bags, targets, options, "softmax", *fresh(4, 2, options))
    assert pressed


def test_word_vectors_are_a_beginning_and_words_that_no_text_has_keep_theirs(kinds_folder, tmp_path):
    """With them, an animal that training never saw is labeled by its neighbors; without, it is not."""
    words = {"horse": (3, 0), "dog": (3, 0), "cat": (3, 0), "cow": (3, 0), "zebra": (3, 0), "hammer": (0, 3),
             "saw": (0, 3), "knife": (0, 3), "axe": (0, 3), "chisel": (0, 3), "</s>": (9, 9)}
    (tmp_path / "start.vec").write_text(f"{len(words)} 2\n" + "".join(
        f"{word} {x} {y}\n" for word, (x, y) in words.items()))
    chainrule.import_model(tmp_path / "start.vec", tmp_path / "start")
    how = ["model.dimension=2", f"model.vectors={tmp_path / 'start'}", "training.threads=1", "model.word_ngrams=2"]
    chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "still",
                    overrides=[*how, "training.lr=1e-9"])
    model = chainrule.load(tmp_path / "still").model
    assert {"zebra", "chisel"} <= {word.decode() for word in model.features.words}
    for word in ("horse", "zebra", "axe"):
        np.testing.assert_allclose(model.inputs[model.features.row_of[word.encode()]], words[word], atol=1e-6)
    assert np.abs(model.inputs[0]).max() <= 0.5  # </s> has no vector from there
    chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run",
                    overrides=[*how, "training.lr=0.5"])
    best = chainrule.predict(tmp_path / "run", ["zebra", "chisel"])
    assert [row[0][0] for row in best] == ["beast", "tool"]
    with pytest.raises(OptionError, match="model.dimension = 3, expected 2, as the vectors of"):
        chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "no",
                        overrides=[*how, "model.dimension=3"])
    with pytest.raises(OptionError, match="expected a run of word vectors. Make one of a file: chainrule import"):
        chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "no",
                        overrides=[f"model.vectors={tmp_path / 'start.vec'}"])
    with pytest.raises(UsageError, match="holds a classifier; model.vectors needs word vectors"):
        chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "no",
                        overrides=[f"model.vectors={tmp_path / 'run'}"])
