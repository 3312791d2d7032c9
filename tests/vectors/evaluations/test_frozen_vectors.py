"""Classification with frozen vectors: the regression against scipy, the files it reads, and what it refuses."""

import numpy as np
import pytest

from chainrule.errors import DataError, UsageError
from chainrule.vectors import logistic
from chainrule.vectors.evaluating import evaluate
from chainrule.vectors.evaluations._texts import Means
from chainrule.vectors.store import Vectors

GOOD, BAD = [f"good{i}" for i in range(8)], [f"bad{i}" for i in range(8)]


@pytest.fixture(scope="module")
def vectors():
    """Good words point one way, bad words the other, with noise."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(16, 5)) * 0.5
    table[:8, 0] += 1
    table[8:, 0] -= 1
    return Vectors(GOOD + BAD, table.astype(np.float32))


def lines(count, seed, noise=0.0):
    """`label text`, a share of the labels wrong."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        words = rng.choice([BAD, GOOD][number % 2], 4)
        yield f"{(number + (rng.random() < noise)) % 2} {' '.join(words)} unknown ."


@pytest.mark.parametrize("classes", [2, 3])
def test_the_regression_is_where_scipy_says(classes, monkeypatch):
    optimize = pytest.importorskip("scipy.optimize")
    monkeypatch.setattr(logistic, "AT_ONCE", 1)
    rng = np.random.default_rng(1)
    x, y, l2 = rng.normal(size=(150, 4)), rng.integers(0, classes, 150), 0.01

    def loss(flat):
        w = flat.reshape(classes, 5)
        scores = x @ w[:, :4].T + w[:, 4]
        log_p = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        return -log_p[np.arange(150), y].mean() + l2 / 2 * (w[:, :4] ** 2).sum()

    best = optimize.minimize(loss, np.zeros(5 * classes), tol=1e-12)
    model = logistic.fit(x, y, classes, l2=l2, tolerance=1e-9)
    found = np.column_stack([model.weights_CD, model.bias_C])
    assert loss(found.ravel()) == pytest.approx(best.fun, abs=1e-9)
    np.testing.assert_allclose(model.weights_CD, best.x.reshape(classes, 5)[:, :4], atol=1e-4)


def test_a_function_with_a_narrow_valley_is_minimized():
    scale = np.array([1.0, 1e4, 1e-2])

    def valley(at):
        return float((scale * (at - 3) ** 2).sum()), 2 * scale * (at - 3)

    np.testing.assert_allclose(logistic.minimize(valley, np.zeros(3), tolerance=1e-9), 3, atol=1e-6)


def test_training_dev_and_test_files_belong_together(vectors, tmp_path):
    for name, count, seed in (("x.train", 400, 1), ("x.dev", 100, 2), ("x.test", 200, 3)):
        (tmp_path / name).write_text("\n".join(lines(count, seed, noise=0.1)) + "\n")
    found = evaluate(vectors, [tmp_path / "x.train"])["files"][str(tmp_path / "x.train")]
    assert found["evaluation"] == "classification"
    assert (found["classes"], found["train"], found["valid"], found["test"]) == (2, 400, 100, 200)
    assert 0.84 < found["accuracy"] < 0.96 and found["coverage"] == pytest.approx(4 / 6)
    assert found["standard_error"] == pytest.approx((found["accuracy"] * (1 - found["accuracy"]) / 200) ** 0.5)
    assert list(evaluate(vectors, [tmp_path])["files"]) == [str(tmp_path / "x.train")]


def test_two_files_that_are_a_class_each_are_cross_validated(vectors, tmp_path):
    rng = np.random.default_rng(4)
    for suffix, words in ((".pos", GOOD), (".neg", BAD)):
        (tmp_path / f"x{suffix}").write_text("".join(" ".join(rng.choice(words, 3)) + "\n" for _ in range(60)))
    for given in (tmp_path / "x.neg", tmp_path):
        (found,) = evaluate(vectors, [given])["files"].values()
        assert (found["classes"], found["texts"], found["folds"]) == (2, 120, 10)
        assert found["accuracy"] > 0.95 and found["most_frequent"] == 0.5


@pytest.mark.parametrize("line", ["__label__{} {}", "{}\t{}", "{} {}"])
def test_one_file_of_labeled_texts_is_cross_validated(vectors, line, tmp_path):
    rows = [text.split(" ", 1) for text in lines(80, 5)]
    (tmp_path / "texts.txt").write_text("".join(line.format(*row) + "\n" for row in rows))
    (found,) = evaluate(vectors, [tmp_path / "texts.txt"])["files"].values()
    assert found["folds"] == 10 and found["accuracy"] > 0.95


def test_words_are_looked_up_in_lower_case_and_without_marks(vectors):
    means = Means(vectors)
    np.testing.assert_allclose(means.of([["Good1,", '"BAD2"', "..."], ["?"]]),
                               [(vectors["good1"] + vectors["bad2"]) / 2, np.zeros(5)], rtol=1e-6)
    assert means.coverage == 0.5


def test_a_folder_is_measured_file_by_file(vectors, tmp_path, caplog):
    (tmp_path / "pairs.txt").write_text("good1 good2 9\ngood1 bad1 1\ngood3 bad3 2\n")
    (tmp_path / "questions.txt").write_text("good1 good2 bad1 bad2\n")
    (tmp_path / "prose.txt").write_text("it was the best of times, it was the worst of times\n")
    (tmp_path / "bytes.bin").write_bytes(b"\x00\xff\x00")
    with caplog.at_level("INFO"):
        found = evaluate(vectors, [tmp_path])["files"]
    assert [each["evaluation"] for each in found.values()] == ["similarity", "analogies"]
    assert "prose.txt: left out" in caplog.text and "bytes.bin" in caplog.text


@pytest.mark.parametrize(("files", "error", "words"), [
    ({"x.pos": "good1\n", "x.neg": ""}, DataError, "1 label, expected at least 2"),
    ({"x.train": "0 good1\n1 bad1\n" * 9, "x.test": "0 good1\n1\n"}, DataError, "line 2: a label without a text"),
    ({"x.train": "0 good1\n1 bad1\n" * 9, "x.test": ""}, DataError, "x.test: no texts"),
    ({"prose.txt": "nothing like it\n"}, UsageError, "no file in it that word vectors are measured on"),
])
def test_files_that_cannot_be_measured_on_are_refused(vectors, files, error, words, tmp_path):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(error, match=words):
        evaluate(vectors, [tmp_path])
