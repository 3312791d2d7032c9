"""Broken files of vectors: one line that names the file's line or byte, and nothing is left behind."""

import numpy as np
import pytest

import chainrule
from chainrule.errors import ChainruleError
from chainrule.verbs.import_ import import_model

ROW = np.array([1, 2], "<f4").tobytes()
NAN = np.array([1, np.nan], "<f4").tobytes()


@pytest.mark.parametrize(("form", "data", "words"), [
    ("word2vec", b"", r"file: line 1: '', expected two numbers"),
    ("word2vec", b"the 1 2\n", r"line 1: 'the 1 2', expected two numbers.*--from glove"),
    ("word2vec", b"0 2\n", r"line 1: 0 words with 2 numbers each, expected at least one word"),
    ("word2vec", b"2 0\na\nb\n", r"line 1: 2 words with 0 numbers each"),
    ("word2vec", b"2 2\na 1 2\n", r"line 3: the file ends after 1 words, expected 2 as line 1 announces"),
    ("word2vec", b"1 2\na 1 2\nb 3 4\n", r"line 3: more lines than the 1 words that line 1 announces"),
    ("word2vec", b"2 2\na 1 2\nb 3\n", r"line 3: 1 numbers after 'b', expected 2"),
    ("word2vec", b"2 2\na 1 2\nb 3 4 5\n", r"line 3: 3 numbers after 'b', expected 2"),
    ("word2vec", b"2 2\na 1 2\nb 3 x4\n", r"line 3: 'x4' after the word 'b', expected a finite number"),
    ("word2vec", b"2 2\na 1 nan\nb 3 4\n", r"line 2: 'nan' after the word 'a', expected a finite number"),
    ("word2vec", b"2 2\na 1 1e39\nb 3 4\n", r"line 2: '1e39' after the word 'a', expected a finite number"),
    ("word2vec", b"2 2\na 1 2\na 3 4\n", r"line 3: the word 'a' again, expected each word once. It is at line 2 too"),
    ("word2vec", b"3 2\na 1 2\n\nb 3 4\n", r"line 3: empty, expected a word and 2 numbers"),
    ("word2vec", b"2 2\na 1 2\n\nb 3 4\n", r"line 3: empty, expected a word and 2 numbers"),
    ("word2vec", b"9999999999999 999999\na 1 2\n", r"need \S+ GiB, more than there is memory"),
    ("glove", b"", r"line 1: no numbers after the word"),
    ("glove", b"just some words\n", r"line 1: no numbers after the word"),
    ("glove", b"a 1 2\nb 3\n", r"line 2: 1 numbers after 'b', expected 2"),
    ("glove", b"a 1 2\nb c 3 4\nb c 3 4\n", r"line 3: the word 'b c' again"),
    ("word2vec_binary", b"", r"byte 0: the file ends within the first line"),
    ("word2vec_binary", b"no header\n", r"byte 0: 'no header', expected two numbers"),
    ("word2vec_binary", b"2 2\na " + ROW, r"byte 14: the file ends after 1 words, expected 2"),
    ("word2vec_binary", b"2 2\na " + ROW + b"b " + ROW[:5], r"byte 16: the file ends within the vector of word 2"),
    ("word2vec_binary", b"1 2\na " + ROW + b"b " + ROW, r"more follows after the 1 words"),
    ("word2vec_binary", b"2 2\na " + ROW + b"\nb " + NAN, r"byte 14: the vector of 'b' has a number"),
    ("word2vec_binary", b"2 2\na " + ROW + b"a " + ROW, r"byte 14: the word 'a' again.*It is at byte 4 too"),
    ("word2vec_binary", b"2 2\na " + ROW + b" " + ROW, r"byte 14: the word ''"),
    ("word2vec_binary", b"1 2\n" + b"a" * 100_000, r"byte 4: word 1 does not end within"),
])
def test_a_broken_file_is_refused_with_the_place(form, data, words, tmp_path):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(ChainruleError, match=words) as error:
        import_model(tmp_path / "file", tmp_path / "run", format=form)
    assert str(error.value).startswith(str(tmp_path / "file")) and "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("data", [
    b"2 2\na 1 2 \nb 3 4 \n", b"2 2\r\na 1 2\r\nb 3 4\r\n", b"2 2\na\t1\t2\nb 3  4", b"2 2\na 1 2\nb 3 4\n\n\n",
    b"a 1 2\nb +3. 4e0\n", b"2 2\na " + ROW + b"\nb " + np.array([3, 4], "<f4").tobytes() + b"\n",
])
def test_files_of_other_programs_are_read_whatever_their_spaces_and_line_ends(data, tmp_path):
    (tmp_path / "file").write_bytes(data)
    import_model(tmp_path / "file", tmp_path / "run")
    vectors = chainrule.load(tmp_path / "run").vectors
    assert list(vectors) == ["a", "b"] and vectors.table.tolist() == [[1, 2], [3, 4]]


def test_a_cut_packed_file_is_named(tmp_path):
    import gzip

    (tmp_path / "v.txt.gz").write_bytes(gzip.compress(b"2 2\na 1 2\nb 3 4\n" * 99)[:-12])
    with pytest.raises(ChainruleError, match="the compressed file was cut"):
        import_model(tmp_path / "v.txt.gz", tmp_path / "run", format="word2vec")


def test_broken_text_is_not_taken_for_bytes(tmp_path):
    (tmp_path / "v.vec").write_text("2 2\ncat x y\ndog 3 4\n")
    with pytest.raises(ChainruleError, match="line 2: 'x' after the word 'cat', expected a finite number"):
        import_model(tmp_path / "v.vec", tmp_path / "run")


def test_text_without_vectors_is_in_no_known_format(tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat\n")
    with pytest.raises(ChainruleError, match="in none of the known formats"):
        import_model(tmp_path / "text.txt", tmp_path / "run")


def test_an_empty_file_is_reported_as_empty(tmp_path):
    (tmp_path / "file.vec").write_bytes(b"")
    with pytest.raises(ChainruleError, match="file.vec: there is nothing in it, expected a model"):
        import_model(tmp_path / "file.vec", tmp_path / "run")


def test_a_mark_before_the_first_line_is_passed_over(tmp_path):
    (tmp_path / "file.vec").write_bytes(b"\xef\xbb\xbf2 3\na 1 2 3\nb 4 5 6\n")
    assert import_model(tmp_path / "file.vec", tmp_path / "run")["dimension"] == 3
    assert chainrule.load(tmp_path / "run").vectors["b"].tolist() == [4, 5, 6]
