"""fastText's .bin files of text classifiers: read with its predictions, and read by it."""

import struct

import numpy as np
import pytest
from fasttext_peer import compare, peers_chances

import chainrule
from chainrule.classifying.tree import label_tree
from chainrule.errors import DataError, UsageError

TEXTS = ["the horse is old", "the naïve 日本語 hammer", "unseen words only here", "", "saw saw saw dog"]
SHAPES = [{}, {"wordNgrams": 3, "bucket": 501}, {"wordNgrams": 2, "minn": 2, "maxn": 4, "bucket": 997}]


@pytest.fixture(scope="module")
def fruit(tmp_path_factory, kinds_folder):
    """Six labels, two of them equally frequent, some texts with two; words that are no ASCII."""
    lines = (kinds_folder / "train.txt").read_text().splitlines()
    text = "".join(f"{line} où n{n % 9} __label__{'abcdd'[n % 5]}\n" for n, line in enumerate(lines))
    path = tmp_path_factory.mktemp("fruit") / "train.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("loss", ["softmax", "hs", "ova", "ns"])
def test_an_imported_model_predicts_as_fasttext_does(loss, shape, fruit, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    peer = fasttext.train_supervised(str(fruit), dim=11, lr=0.5, loss=loss, thread=1, verbose=0, **shape)
    peer.save_model(str(tmp_path / "peer.bin"))
    report = chainrule.import_model(tmp_path / "peer.bin", tmp_path / "run")
    assert report["labels"] == 6 and report["vocabulary"] == len(peer.get_words()) - 1
    model = chainrule.load(tmp_path / "run").model
    compare(peer, model, TEXTS)
    chainrule.export(tmp_path / "run", "fasttext", tmp_path / "back.bin")
    again = fasttext.load_model(str(tmp_path / "back.bin"))
    np.testing.assert_allclose(peers_chances(again, TEXTS, model.labels), peers_chances(peer, TEXTS, model.labels),
                               atol=1e-6)


@pytest.mark.parametrize("loss", ["softmax", "hierarchical_softmax", "one_vs_all", "negative_sampling"])
def test_fasttext_reads_what_was_trained_here(loss, fruit, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    chainrule.train("text-classifier", fruit, tmp_path / "run", overrides=[
        "model.dimension=10", "training.lr=1.0", "training.threads=1", f"model.loss={loss}", "model.word_ngrams=2",
        "model.min_n=3", "model.max_n=4", "model.bucket=3000"])
    done = chainrule.export(tmp_path / "run", "fasttext", tmp_path / "ours.bin")
    assert done["labels"] == 6 and done["bytes"] == (tmp_path / "ours.bin").stat().st_size
    peer, model = fasttext.load_model(str(tmp_path / "ours.bin")), chainrule.load(tmp_path / "run").model
    texts = [text for text in TEXTS if text]
    compare(peer, model, texts)
    for text in texts:
        np.testing.assert_allclose(peer.get_sentence_vector(text), model.hidden([text.encode()])[0], atol=1e-6)


def test_the_tree_joins_the_rarest_labels_first():
    tree = label_tree(np.array([8, 4, 2, 1, 1]))
    assert np.diff(tree.starts).tolist() == [1, 2, 3, 4, 4]


def test_broken_files_are_one_clear_line(fruit, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    peer = fasttext.train_supervised(str(fruit), dim=11, thread=1, wordNgrams=2, bucket=500, verbose=0)
    peer.save_model(str(tmp_path / "peer.bin"))
    data = (tmp_path / "peer.bin").read_bytes()
    for broken, message in ((data[:-7], "the file ends within the output matrix"), (data + b"x", "more follows"),
                            (data[:32] + struct.pack("<i", 9) + data[36:], "settings that fastText does not have")):
        (tmp_path / "broken.bin").write_bytes(broken)
        with pytest.raises(DataError, match=message) as caught:
            chainrule.import_model(tmp_path / "broken.bin", tmp_path / "run")
        assert "\n" not in str(caught.value) and not (tmp_path / "run").exists()


def test_a_name_that_says_another_kind_of_file_is_refused(kinds_folder, tmp_path):
    chainrule.train("text-classifier", kinds_folder / "train.txt", tmp_path / "run", overrides=["model.dimension=8"])
    chainrule.quantize(tmp_path / "run", tmp_path / "small")
    with pytest.raises(UsageError, match="the classifier is quantized; fastText expects a name that ends in .ftz"):
        chainrule.export(tmp_path / "small", "fasttext", tmp_path / "small.bin")
    with pytest.raises(UsageError, match=".ftz files are quantized, and this classifier is not. Try chainrule quant"):
        chainrule.export(tmp_path / "run", "fasttext", tmp_path / "run.ftz.gz")
    with pytest.raises(UsageError, match="holds a classifier; export --to word2vec needs word vectors"):
        chainrule.export(tmp_path / "run", "word2vec", tmp_path / "run.vec")
    assert not list(tmp_path.glob("*.*"))


def test_the_size_of_a_file_is_said_before_it_is_written(fruit, tmp_path, caplog):
    chainrule.train("text-classifier", fruit, tmp_path / "run", overrides=[
        "model.dimension=10", "model.word_ngrams=2", "training.epochs=1", "training.threads=1", "model.bucket=50000"])
    caplog.clear()
    done = chainrule.export(tmp_path / "run", "fasttext", tmp_path / "ours.bin")
    assert f"ours.bin: this file takes about {done['bytes'] / 1e6:.0f} MB: fastText stores all 50,000" in caplog.text
    assert "chainrule quantize RUN --out SMALL makes (.ftz), or train with fewer buckets: model.bucket=1000" in (
        caplog.text)
    caplog.clear()
    chainrule.train("text-classifier", fruit, tmp_path / "words", overrides=["model.dimension=10", "training.epochs=1"])
    chainrule.export(tmp_path / "words", "fasttext", tmp_path / "words.bin")
    assert "MB" not in caplog.text
