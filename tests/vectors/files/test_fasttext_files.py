"""fastText's model files: vectors equal to those of fastText's own module, unseen words among them."""

import struct

import numpy as np
import pytest

import chainrule
from chainrule.errors import ChainruleError
from chainrule.vectors.files.fasttext_read import read_fasttext
from chainrule.verbs.export import export
from chainrule.verbs.import_ import import_model

UNSEEN = ["karo", "unsäglich", "zzz", "</s", "kakakaro"]
SMALL = {"dim": 9, "minn": 2, "maxn": 4, "bucket": 500, "epoch": 1, "thread": 1, "minCount": 2, "verbose": 0}


@pytest.fixture(scope="module")
def fasttext():
    return pytest.importorskip("fasttext")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    rng = np.random.default_rng(0)
    parts = ["ka", "ro", "mi", "ña", "lü", "te", "su", "po", "日本", "ing"]
    words = ["".join(rng.choice(parts, rng.integers(1, 5))) for _ in range(80)]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(" ".join(rng.choice(words, 12)) for _ in range(300)) + "\n")
    return path


@pytest.fixture(scope="module")
def theirs(fasttext, text):
    model = fasttext.train_unsupervised(str(text), **SMALL)
    path = text.parent / "model.bin"
    model.save_model(str(path))
    return path, model


def test_a_fasttext_model_has_the_same_vectors_here(theirs, tmp_path):
    path, model = theirs
    report = import_model(path, tmp_path / "run")
    assert (report["format"], report["method"], report["dimension"]) == ("fasttext", "fasttext", 9)
    vectors = chainrule.load(tmp_path / "run").vectors
    assert list(vectors) == model.get_words() and "</s>" in vectors
    for word in [*vectors, *UNSEEN]:
        np.testing.assert_allclose(vectors[word], model.get_word_vector(word), atol=1e-6)
    assert vectors.counts.tolist() == model.get_words(include_freq=True)[1].tolist()


def test_a_fasttext_model_is_exported_to_the_same_bytes(theirs, tmp_path):
    import_model(theirs[0], tmp_path / "run")
    export(tmp_path / "run", "fasttext", tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == theirs[0].read_bytes()


@pytest.mark.parametrize("options", [{"loss": "hs"}, {"loss": "softmax", "model": "cbow"}, {"minn": 0, "maxn": 0}])
def test_other_fasttext_settings_are_imported_and_exported(fasttext, text, options, tmp_path):
    model = fasttext.train_unsupervised(str(text), **SMALL | options)
    model.save_model(str(tmp_path / "model.bin"))
    import_model(tmp_path / "model.bin", tmp_path / "run")
    export(tmp_path / "run", "fasttext", tmp_path / "ours.bin")
    vectors, again = chainrule.load(tmp_path / "run").vectors, fasttext.load_model(str(tmp_path / "ours.bin"))
    for word in vectors:
        np.testing.assert_allclose(vectors[word], model.get_word_vector(word), atol=1e-6)
        np.testing.assert_allclose(again.get_word_vector(word), model.get_word_vector(word), atol=1e-6)


def test_our_model_has_the_same_vectors_in_fasttext(fasttext, text, tmp_path):
    chainrule.train("fasttext", text, tmp_path / "run", overrides=[
        "model.dimension=11", "tokenizer.min_count=2", "training.epochs=1", "model.method.bucket=700",
        "training.threads=1"])
    export(tmp_path / "run", "fasttext", tmp_path / "ours.bin")
    vectors, model = chainrule.load(tmp_path / "run").vectors, fasttext.load_model(str(tmp_path / "ours.bin"))
    assert model.get_words() == list(vectors)
    for word in [*vectors, *UNSEEN]:
        np.testing.assert_allclose(model.get_word_vector(word), vectors[word], atol=1e-6)
    import_model(tmp_path / "ours.bin", tmp_path / "again")
    again = chainrule.load(tmp_path / "again").vectors
    assert len(again.subwords.used) == len(vectors.subwords.used)  # buckets that no word has take no room
    for word in [*vectors, *UNSEEN]:
        np.testing.assert_allclose(again[word], vectors[word], atol=1e-6)
    gensim = pytest.importorskip("gensim.models.fasttext")
    loaded = gensim.load_facebook_vectors(str(tmp_path / "ours.bin"))
    for word in [*vectors, *UNSEEN]:
        np.testing.assert_allclose(loaded[word], vectors[word], atol=1e-6)


def test_training_continues_from_a_fasttext_model(theirs, text, tmp_path):
    import_model(theirs[0], tmp_path / "run")
    report = chainrule.train("fasttext", text, tmp_path / "more", overrides=[
        "model.dimension=9", "tokenizer.min_count=2", "training.epochs=1", "model.method.bucket=500",
        "model.method.min_n=2", "model.method.max_n=4", f"model.initial={tmp_path / 'run'}", "training.threads=1"])
    assert report["vocabulary"] == len(theirs[1].get_words()) - 1  # </s> is no word here


def changed(data, offset, code, value):
    size = struct.calcsize(code)
    return data[:offset] + struct.pack(code, value) + data[offset + size :]


@pytest.mark.parametrize(("change", "words"), [
    (lambda data: changed(data, 0, "<i", 7), "in none of the known formats"),
    (lambda data: changed(data, 4, "<i", 13), "byte 4: version 13, expected 12"),
    (lambda data: changed(data, 8, "<i", 0), "byte 8: 69 words with 0 numbers each"),
    (lambda data: changed(data, 36, "<i", 3), "69 words and 0 labels, expected words and at least 2 labels"),
    (lambda data: changed(data, 36, "<i", 9), "byte 8: settings that fastText does not have"),
    (lambda data: changed(data, 64, "<i", 3), "a dictionary of 3 entries"),
    (lambda data: data[:30], "byte 28: the file ends within the setting word_ngrams"),
    (lambda data: changed(data, len(data) - 2 * 17 - (2 * 69 + 500) * 9 * 4, "<b", 1), "the input matrix is quantized"),
    (lambda data: data[:200], "the file ends within"),
    (lambda data: data[:-1], "the file ends within the output matrix. It may have been cut"),
    (lambda data: data + b"x", "more follows after the output matrix"),
    (lambda data: changed(data, len(data) - 4, "<f", float("nan")), "nan in the output matrix, expected a finite"),
])
def test_a_broken_model_is_refused_with_the_place(theirs, change, words, tmp_path):
    (tmp_path / "model.bin").write_bytes(change(theirs[0].read_bytes()))
    with pytest.raises(ChainruleError, match=words) as error:
        import_model(tmp_path / "model.bin", tmp_path / "run")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_classifier_is_no_model_of_words(fasttext, tmp_path):
    (tmp_path / "labels.txt").write_text("__label__a fine words here\n__label__b bad words there\n" * 300)
    model = fasttext.train_supervised(str(tmp_path / "labels.txt"), dim=4, epoch=1, thread=1, verbose=0)
    model.save_model(str(tmp_path / "model.bin"))
    with pytest.raises(ChainruleError, match="a classifier of texts, expected word vectors"):
        read_fasttext(tmp_path / "model.bin")
