"""Vectors in the files of other programs: gensim and fastText read ours, we read theirs."""

import gzip

import numpy as np
import pytest

import chainrule
from chainrule.errors import UsageError
from chainrule.formats._word_vectors import import_table
from chainrule.vectors.files import read_text, write_text
from chainrule.vectors.files.table import Table
from chainrule.verbs.export import export
from chainrule.verbs.import_ import import_model

WORDS = ["the", "</s>", "naïve", "<unk>", "日本", "x" * 300, "\u00a0", "<s>"]
FORMATS = ["word2vec", "word2vec_binary", "glove", "fasttext"]


@pytest.fixture(scope="module")
def table():
    rows = np.random.default_rng(0).normal(size=(len(WORDS), 7)).astype(np.float32)
    rows[2] = 0
    rows[3] *= np.float32(1e-30)
    return rows


@pytest.fixture(scope="module")
def run(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors") / "run"
    import_table(folder.parent / "made", folder, Table(WORDS, table), replace=False)
    return folder


@pytest.mark.parametrize("form", FORMATS)
def test_written_files_are_recognized_and_read_back_to_the_bit(run, table, form, tmp_path):
    export(run, form, tmp_path / "file")
    assert import_model(tmp_path / "file", tmp_path / "again")["format"] == form
    found = chainrule.load(tmp_path / "again").vectors
    assert list(found) == WORDS
    np.testing.assert_array_equal(found.table, table)
    export(tmp_path / "again", form, tmp_path / "twice")
    assert (tmp_path / "twice").read_bytes() == (tmp_path / "file").read_bytes()


@pytest.mark.parametrize("form", FORMATS)
def test_packed_files_are_the_same(run, table, form, tmp_path):
    export(run, form, tmp_path / "file")
    export(run, form, tmp_path / "file.gz")
    assert gzip.decompress((tmp_path / "file.gz").read_bytes()) == (tmp_path / "file").read_bytes()
    assert import_model(tmp_path / "file.gz", tmp_path / "again")["format"] == form
    np.testing.assert_array_equal(chainrule.load(tmp_path / "again").vectors.table, table)


@pytest.mark.parametrize(("form", "options"), [
    ("word2vec", {}), ("word2vec_binary", {"binary": True}), ("glove", {"no_header": True})])
def test_gensim_reads_ours_and_we_read_gensims(run, table, form, options, tmp_path):
    gensim = pytest.importorskip("gensim.models")
    export(run, form, tmp_path / "ours")
    theirs = gensim.KeyedVectors.load_word2vec_format(str(tmp_path / "ours"), **options)
    assert theirs.index_to_key == WORDS
    np.testing.assert_array_equal(theirs.vectors, table)
    header = {"write_header": False} if "no_header" in options else options
    theirs.save_word2vec_format(str(tmp_path / "theirs"), **header)
    assert import_model(tmp_path / "theirs", tmp_path / "again")["format"] == form
    found = chainrule.load(tmp_path / "again").vectors
    assert list(found) == WORDS
    np.testing.assert_array_equal(found.table, table)


def test_gensim_reads_vectors_without_ngrams_as_a_fasttext_model(run, table, tmp_path):
    gensim = pytest.importorskip("gensim.models.fasttext")
    export(run, "fasttext", tmp_path / "model.bin")
    found = gensim.load_facebook_vectors(str(tmp_path / "model.bin"))
    np.testing.assert_array_equal([found[word] for word in WORDS], table)


def test_the_quick_ways_of_text_give_what_the_plain_ones_give(tmp_path, monkeypatch):
    from chainrule.kernels.vectors_files import FastLines, parse_quickly

    bits = np.random.default_rng(1).integers(0, 1 << 32, 30_000, dtype=np.uint64).astype(np.uint32)
    values = bits.view(np.float32)
    values = values[np.isfinite(values)][:29_000].reshape(-1, 10).copy()
    values[0] = [0, -0.0, 1, 10, 1e9, 123456789, 1e-5, 1e-4, 0.1, 999999.9]
    values[1] = np.float32([3.4028235e38, -1e-45, 1e8, 99999999, 1e-38, 2**24, 1 / 3, 1e22, 1e23, -7])
    words = [f"w{row}" for row in range(len(values))]
    text = write_text.PlainLines()(words, values)
    assert FastLines()(words, values) == text
    lines = [*text.split(b"\n")[:-1], b"odd 1 2", b"a b " + b" 1" * 10, b"n" + b" nan" * 10,
             b"long" + b" 0.12345678901234567" * 10, b"end 1 2 3 4 5 6 7 8 9 10 \r", b"dots 1 2 3 4 5 6 7 8 9 .",
             b"e 1 2 3 4 5 6 7 8 9 1e", b"", b"big 1 2 3 4 5 6 7 8 9 1e39"]
    found = np.zeros((len(lines), 10), np.float32), np.zeros((len(lines), 10), np.float32)
    names, usual = parse_quickly(lines, found[0])
    for number in range(len(values)):
        if usual[number]:
            np.testing.assert_array_equal(found[0][number], values[number])
    assert usual[0] and names[: len(words)] == [word.encode() for word in words]
    assert usual[len(words) :].tolist() == [False, False, False, False, True, False, False, False, False]
    assert read_text.parse_plainly(lines[: len(words)], found[1][: len(words)])[1].all()
    np.testing.assert_array_equal(found[1][: len(words)], values)


def test_text_is_read_in_blocks_with_the_kernel_as_without(run, table, tmp_path, monkeypatch):
    export(run, "word2vec", tmp_path / "file")
    monkeypatch.setattr(read_text, "BLOCK", 100)
    monkeypatch.setattr(read_text, "JIT_PAYS_FROM", 0)
    monkeypatch.setattr(write_text, "JIT_PAYS_FROM", 0)
    monkeypatch.setattr(write_text, "NUMBERS", 10)
    np.testing.assert_array_equal(read_text.read_text(tmp_path / "file", header=True).rows, table)
    export(run, "word2vec", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "file").read_bytes()


def test_glove_files_may_have_words_with_spaces_which_others_cannot_hold(tmp_path):
    (tmp_path / "glove.txt").write_text("the 1 2\n. . . 3 4\nat name@domain.com 5 6\n")
    import_model(tmp_path / "glove.txt", tmp_path / "run")
    vectors = chainrule.load(tmp_path / "run").vectors
    assert list(vectors) == ["the", ". . .", "at name@domain.com"]
    assert vectors[". . ."].tolist() == [3, 4]
    with pytest.raises(UsageError, match=r"the word '\. \. \.' holds white space, which word2vec cannot hold"):
        export(tmp_path / "run", "word2vec", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_words_that_are_no_utf8_keep_their_bytes_visibly(tmp_path, caplog):
    (tmp_path / "w.vec").write_bytes(b"2 2\ncaf\xe9 1 2\nb 3 4\n")
    with caplog.at_level("INFO"):
        import_model(tmp_path / "w.vec", tmp_path / "run")
    assert "1 words are not UTF-8, the first at line 2: caf\\xe9" in caplog.text
    assert chainrule.load(tmp_path / "run").vectors["caf\\xe9"].tolist() == [1, 2]


def test_imported_vectors_cannot_be_trained_again_but_can_be_asked(run, tmp_path):
    assert chainrule.load(run).vectors.most_similar("the", topn=1)
    (tmp_path / "text.txt").write_text("a b c\n" * 9)
    with pytest.raises(UsageError, match="model.method = imported, expected a method that learns"):
        chainrule.train(run / "recipe.yaml", tmp_path / "text.txt", tmp_path / "x")
