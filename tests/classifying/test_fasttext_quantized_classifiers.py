"""fastText's quantized classifiers (.ftz): read with its predictions, and read by it."""

import itertools

import numpy as np
import pytest
from fasttext_peer import compare, peers_chances

import chainrule
from chainrule.classifying.fasttext_writing import write_classifier
from chainrule.classifying.features import Features, Shape
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.quantizing import QuantizedRows
from chainrule.errors import UsageError
from chainrule.vectors.huffman import no_tree

TEXTS = ["w3 w4 où w5 w300", "w299 w298 w297", "never met words only", "w1 naïve 日本語 w1 w1 w2", "w77"]
SHAPES = [{}, {"wordNgrams": 2, "bucket": 601}, {"wordNgrams": 3, "minn": 2, "maxn": 4, "bucket": 997}]
QUANTIZED = [{}, {"qnorm": True}, {"cutoff": 290, "qnorm": True}, {"cutoff": 300, "retrain": True, "dsub": 3},
             {"dsub": 40}]
CASES = [*itertools.product(["softmax"], SHAPES, QUANTIZED),
         *itertools.product(["hs", "ova"], SHAPES[2:], QUANTIZED[1:3])]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Texts of 400 words, the rare ones at the end, with four labels that depend on them."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("numbers") / "train.txt"
    with path.open("w", encoding="utf-8") as file:
        for _ in range(700):
            drawn = (400 * rng.random(9) ** 2).astype(int)
            file.write(f"__label__{'abcd'[int(drawn[:2].sum()) % 4]} {' '.join(f'w{n}' for n in drawn)} où\n")
    return path


@pytest.fixture(scope="module")
def trained(numbers):
    """Models of fastText, by loss and shape; each call gives one that may be quantized."""
    fasttext = pytest.importorskip("fasttext")
    return lambda loss, shape: fasttext.train_supervised(str(numbers), dim=11, lr=0.5, loss=loss, thread=1, verbose=0,
                                                         **shape)


def quantized_and_saved(peer, path, **options):
    import fasttext

    peer.quantize(verbose=0, thread=1, **options)
    peer.save_model(str(path))
    return fasttext.load_model(str(path))


@pytest.mark.parametrize(("loss", "shape", "options"), CASES, ids=str)
def test_an_imported_quantized_model_predicts_as_fasttext_does(loss, shape, options, trained, numbers, tmp_path):
    peer = quantized_and_saved(trained(loss, shape), tmp_path / "peer.ftz", input=str(numbers), **options)
    report = chainrule.import_model(tmp_path / "peer.ftz", tmp_path / "run")
    run = chainrule.load(tmp_path / "run")
    assert run.recipe.model.quantized and isinstance(run.model.inputs, QuantizedRows)
    assert report["vocabulary"] == len(peer.get_words()) - 1 and (report["ngrams"] > 0) == ("wordNgrams" in shape)
    compare(peer, run.model, TEXTS)
    chainrule.export(tmp_path / "run", "fasttext", tmp_path / "back.ftz")
    again = pytest.importorskip("fasttext").load_model(str(tmp_path / "back.ftz"))
    np.testing.assert_array_equal(peers_chances(again, TEXTS, run.model.labels),
                                  peers_chances(peer, TEXTS, run.model.labels))


@pytest.mark.parametrize(("loss", "qnorm"), [("softmax", True), ("hs", False)])
def test_a_quantized_output_matrix_is_read(loss, qnorm, numbers, tmp_path):
    """fastText quantizes no matrix of fewer than 256 rows."""
    fasttext = pytest.importorskip("fasttext")
    lines = [line.partition(" ")[2] for line in numbers.read_text(encoding="utf-8").splitlines()]
    (tmp_path / "many.txt").write_text("".join(f"__label__{n % 300} {line} w{n % 300}\n"
                                               for n, line in enumerate(lines)), encoding="utf-8")
    peer = fasttext.train_supervised(str(tmp_path / "many.txt"), dim=11, lr=0.5, loss=loss, thread=1, verbose=0)
    peer = quantized_and_saved(peer, tmp_path / "peer.ftz", qout=True, qnorm=qnorm)
    chainrule.import_model(tmp_path / "peer.ftz", tmp_path / "run")
    model = chainrule.load(tmp_path / "run").model
    assert model.outputs.shape == (300 - (loss == "hs"), 11)
    compare(peer, model, TEXTS)


@pytest.mark.parametrize("loss", ["softmax", "hierarchical_softmax"])
@pytest.mark.parametrize("shape", [
    [], ["model.word_ngrams=2", "model.bucket=9000"],  # in the file, each bucket has a row
    ["model.word_ngrams=2", "model.bucket=90000", "model.dimension=31"],  # buckets are listed
    ["model.word_ngrams=2", "model.min_n=2", "model.max_n=4", "model.bucket=997"]], ids=str)
def test_fasttext_reads_what_was_quantized_here(shape, loss, numbers, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    chainrule.train("text-classifier", numbers, tmp_path / "run", overrides=[
        "model.dimension=11", "training.lr=1.0", "training.threads=1", f"model.loss={loss}", *shape])
    for n, options in enumerate(({}, {"norms": False}, {"cutoff": 290, "piece": 3})):
        chainrule.quantize(tmp_path / "run", tmp_path / f"small{n}", **options)
        done = chainrule.export(tmp_path / f"small{n}", "fasttext", tmp_path / f"{n}.ftz")
        assert done["bytes"] == (tmp_path / f"{n}.ftz").stat().st_size
        model = chainrule.load(tmp_path / f"small{n}").model
        compare(fasttext.load_model(str(tmp_path / f"{n}.ftz")), model, TEXTS)
        chainrule.import_model(tmp_path / f"{n}.ftz", tmp_path / f"again{n}")
        again = chainrule.load(tmp_path / f"again{n}").model
        np.testing.assert_array_equal(again.probabilities(TEXTS), model.probabilities(TEXTS))
        assert list(again.features.words) == list(model.features.words)


def test_a_run_without_a_length_of_zero_is_refused_where_fasttext_needs_one(tmp_path):
    rng = np.random.default_rng(0)
    words = [b"w%d" % n for n in range(299)]
    rows = QuantizedRows(rng.integers(0, 256, (302, 2), np.uint8), rng.random((2, 256, 2), np.float32), 4,
                         (np.arange(302) % 256).astype(np.uint8), np.arange(1, 257, dtype=np.float32))
    model = TextClassifier(["a", "b"], Features(words, np.array([3, 5]), Shape(2, bucket=7)), rows,
                           np.ones((2, 4), np.float32), "softmax", no_tree())
    with pytest.raises(UsageError, match="without a length of 0.*Try chainrule quantize again"):
        write_classifier(tmp_path / "old.ftz", model, np.array([1, 1]), "__label__", 5)
    assert not list(tmp_path.iterdir())
